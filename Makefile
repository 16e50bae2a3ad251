# Two commands from a bare clone: `make demo` and `make test`. Both install what is missing, build in
# build/release, and cost little the second time.
#
#   make          set up, configure, build          make bench    run every benchmark
#   make demo     ... and run the main job          make format   rewrite the sources in the style of .clang-format
#   make test     ... and run every test            make check    format, dependencies between layers, clang-tidy
#
# HEED_SETUP=off leaves the system's packages alone; WERROR=1 makes warnings errors (0 takes it back);
# BUILD=folder and JOBS=n do what they say; CMAKE_ARGS goes to the configure step.

BUILD ?= build/release
CMAKE_ARGS ?=
WERROR ?=
JOBS ?= $(shell tools/jobs)

.PHONY: all setup configure build demo test bench format check clean
.NOTPARALLEL:

all: build

setup:
	@tools/setup

configure: setup
	@tools/configure $(BUILD) "$(WERROR)" $(CMAKE_ARGS)

build: configure
	@cmake --build $(BUILD) --parallel $(JOBS)

demo: build
	@$(BUILD)/bin/heed demo

test: build
	@tools/test $(BUILD)

bench: build
	@tools/bench $(BUILD)

format:
	@tools/format

check:
	@tools/check $(BUILD)

clean:
	rm -rf build
