#!/bin/sh
# Checks that every C++ file is as clang-format would write it; --fix rewrites those that are not.
set -eu
mode="--dry-run -Werror"
[ "${1:-}" = "--fix" ] && mode="-i"
# shellcheck disable=SC2086
find include src tests fuzz bench examples \( -name '*.hpp' -o -name '*.cpp' \) -print0 | xargs -0 clang-format $mode
