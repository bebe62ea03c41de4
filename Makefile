# The front door. Every target does all of its own set-up on a bare Debian 12 and is quick when that is done.

BUILD_PACKAGES := g++ cmake ninja-build libeigen3-dev libhwy-dev libcli11-dev libfmt-dev nlohmann-json3-dev \
  zlib1g-dev libxxhash-dev node=nodejs npm=npm
CLANG_PACKAGES := clang libclang-rt-14-dev
TORCH_PACKAGES := libtorch-dev
TEST_PACKAGES := $(CLANG_PACKAGES) $(TORCH_PACKAGES) pkg-config=pkgconf libomp-dev libgtest-dev clang-format clang-tidy chromium
DATA_PACKAGES := dataset-fashion-mnist
BENCH_PACKAGES := libbenchmark-dev python3 python3-numpy python3-torch libopenblas0-pthread
TORTURE_PACKAGES := python3
PYTHON_PACKAGES := pybind11-dev python3-dev python3-venv python3-pip python3-setuptools python3-wheel python3-numpy python3-scipy \
  python3-sklearn python3-pandas python3-matplotlib python3-tqdm python3-pytest
OUT ?= out
FUZZ_SECONDS ?= 300
KILLS ?= 50
# Kept where it was asked for (make torch, make test).
WITH_TORCH = -DDUPLEX_WITH_TORCH=$$(test -e build/duplex-torch && echo ON || echo OFF)
# The system's Python, whatever comes first on the path.
WITH_PYTHON := -DDUPLEX_WITH_PYTHON=ON -DPython_EXECUTABLE=/usr/bin/python3

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup build experiments torch python examples demo test fuzz torture bench reproduce format clean

help:
	@echo "make build       build the tool: build/duplex"
	@echo "make experiments what duplex reproduce needs: build/duplex-reproduce"
	@echo "make torch       the tool with LibTorch: few-shot learning, and networks in duplex clean"
	@echo "make python      the Python package: its wheel, tested in a fresh virtual environment"
	@echo "make examples    the programs of examples/, into build/examples/"
	@echo "make demo        find wrong labels in FashionMNIST, and show the report"
	@echo "make test        everything that is checked: tests, Python, sanitizers, examples, a browser, clang-tidy, clang-format"
	@echo "make fuzz        random files at every reader, FUZZ_SECONDS=$(FUZZ_SECONDS) each, under sanitizers"
	@echo "make torture     kill runs at any moment and operation, fill their disk, ask them to end: nothing is lost"
	@echo "make reproduce   every figure, table and theorem of the paper, and the quality of cleaning, into $(OUT)/"
	@echo "make bench       speed against PyTorch, Eigen and the hardware's limit, in one run"

setup:
	@sh scripts/install.sh $(BUILD_PACKAGES)

build: setup
	@sh scripts/configure.sh release build -DDUPLEX_BUILD_TESTS=OFF -DDUPLEX_BUILD_BENCH=OFF $(WITH_TORCH)
	@cmake --build build --target $$(sh scripts/programs.sh)

experiments: setup
	@sh scripts/configure.sh release build -DDUPLEX_BUILD_TESTS=OFF -DDUPLEX_BUILD_BENCH=OFF $(WITH_TORCH)
	@cmake --build build --target $$(sh scripts/programs.sh experiments)

torch: setup
	@sh scripts/install.sh $(TORCH_PACKAGES)
	@sh scripts/configure.sh release build -DDUPLEX_BUILD_TESTS=OFF -DDUPLEX_BUILD_BENCH=OFF -DDUPLEX_WITH_TORCH=ON
	@cmake --build build --target $$(sh scripts/programs.sh torch)

python: setup
	@sh scripts/install.sh $(PYTHON_PACKAGES)
	@sh scripts/configure.sh release build -DDUPLEX_BUILD_TESTS=OFF -DDUPLEX_BUILD_BENCH=OFF $(WITH_TORCH) $(WITH_PYTHON)
	@cmake --build build --target duplex_main duplex_python
	@sh scripts/python.sh

examples: setup
	@sh scripts/configure.sh release build -DDUPLEX_BUILD_TESTS=OFF -DDUPLEX_BUILD_BENCH=OFF -DDUPLEX_BUILD_EXAMPLES=ON $(WITH_TORCH)
	@cmake --build build --target example_first_problem example_ridge_tuning example_custom_observer \
	  $$(test -e build/duplex-torch && echo example_torch_regularization)
	@ls build/examples/example_*

demo: build
	@sh scripts/install.sh $(DATA_PACKAGES)
	@build/duplex clean --demo fashion-mnist --noise 0.5 --noise-kind always-wrong --trusted-samples 500 --out "$(OUT)/demo"
	@echo "Open $(OUT)/demo/report.html in a browser."

test: setup
	@sh scripts/install.sh $(TEST_PACKAGES) $(PYTHON_PACKAGES) python3-torch $(DATA_PACKAGES)
	@sh scripts/test.sh

fuzz: setup
	@sh scripts/install.sh $(CLANG_PACKAGES) libomp-dev
	@sh scripts/fuzz.sh $(FUZZ_SECONDS)

torture: torch experiments
	@sh scripts/install.sh $(TORTURE_PACKAGES)
	@sh scripts/mnist.sh
	@/usr/bin/python3 scripts/torture/torture.py build/duplex --kills $(KILLS)

bench: setup
	@sh scripts/install.sh $(BENCH_PACKAGES) $(DATA_PACKAGES)
	@sh scripts/configure.sh release build -DDUPLEX_BUILD_BENCH=ON $(WITH_TORCH)
	@cmake --build build --target duplex_bench duplex_bench_native
	@/usr/bin/python3 bench/run.py --bench build/duplex_bench --python /usr/bin/python3 --out "$(OUT)/bench.json"

reproduce: torch experiments
	@sh scripts/install.sh $(DATA_PACKAGES)
	@sh scripts/mnist.sh
	build/duplex reproduce all --out "$(OUT)"

format:
	@sh scripts/install.sh clang-format
	@sh scripts/format.sh --fix

clean:
	rm -rf build build-debug build-tidy build-fuzz build-python out report/node_modules
