# Two commands from a bare clone: `make demo` and `make test`. Both install what is missing, build in
# build/release, and cost little the second time.
#
#   make demo     set up, build the program, run the main job      make bench    build and run every benchmark
#   make test     ... build all, run every test                    make format   rewrite the sources in the project's style
#   make          set up, build all                                make check    format, layers, terms, clang-tidy
#   make program  set up, build the program alone                  make install  into PREFIX, /usr/local unless you say
#
# HEED_SETUP=off leaves the system's packages alone; WERROR=1 makes warnings errors (0 takes it back);
# BUILD=folder and JOBS=n do what they say; CMAKE_ARGS goes to the configure step.

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
