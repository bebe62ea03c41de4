#!/bin/sh
# The test command: format, optimized build and tests, the same but the longest under sanitizers, clang-tidy.
set -eu
# Threads that wait do not spin: tests run beside one another, and those of the one would take the cores of the other.
export OMP_WAIT_POLICY=passive
step() {
  name=$1
  shift
  begin=$(date +%s)
  echo "== $name"
  "$@"
  echo "   $(($(date +%s) - begin)) s"
}

step "clang-format" sh scripts/format.sh
step "configure" sh scripts/configure.sh release build -DDUPLEX_BUILD_TESTS=ON -DDUPLEX_BUILD_BENCH=OFF -DDUPLEX_WITH_TORCH=ON \
  -DDUPLEX_WITH_PYTHON=ON -DPython_EXECUTABLE=/usr/bin/python3
step "build, optimized" cmake --build build
step "tests, optimized" ctest --test-dir build --output-on-failure -j "$(nproc)"
step "Python package" sh scripts/python.sh
step "configure, sanitizers" sh scripts/configure.sh debug build-debug
step "build, AddressSanitizer and UBSan" cmake --build build-debug
step "tests, AddressSanitizer and UBSan" ctest --test-dir build-debug --output-on-failure -j "$(nproc)"
step "clang-tidy" sh scripts/tidy.sh
echo "all checks passed"
