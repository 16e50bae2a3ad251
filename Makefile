# Two commands in a fresh clone: `make demo` and `make test`. Both install missing packages (Debian), build in
# build/release, and are incremental.
#
#   make demo     set up, build the program, run the demo          make bench    build and run every benchmark
#   make test     ... build all, run every test                    make format   format the sources with clang-format
#   make          set up, build all                                make check    format, layers, terms, clang-tidy
#   make program  set up, build the program alone                  make install  into PREFIX, default /usr/local
#
# HEED_SETUP=off installs no packages; WERROR=1 makes warnings errors (0: not); BUILD=folder is the build folder; JOBS=n
# limits the compilers at once; CMAKE_ARGS are passed to the configure step.

BUILD ?= build/release
PREFIX ?= /usr/local
CMAKE_ARGS ?=
WERROR ?=
JOBS ?= $(shell tools/jobs)

.PHONY: all setup configure build program demo test bench install format check clean
.NOTPARALLEL:

all: build

setup:
	@tools/setup

configure: setup
	@tools/configure $(BUILD) "$(WERROR)" $(CMAKE_ARGS)

build: configure
	@cmake --build $(BUILD) --parallel $(JOBS)

program: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target heed_cli

demo: program
	@$(BUILD)/bin/heed demo

test: build
	@tools/test $(BUILD)

bench: build
	@tools/bench $(BUILD)

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

format:
	@tools/format

check:
	@tools/check $(BUILD)

clean:
	rm -rf build
