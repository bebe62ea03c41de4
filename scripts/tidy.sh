#!/bin/sh
# clang-tidy over every translation unit but those on LibTorch, whose headers clang refuses, as many at a time as there are cores. Files are compiled in bundles (CMake's
# unity builds), because most of the time goes into the headers that they share. A unit that was found clean before,
# with the same sources and settings, is passed over. Tests and the zoo are spared the three checks that take longest; templates that
# nothing uses are not parsed. What is in a bundle and besides in a program of its own (conformance_test.cpp) is looked at once.
set -eu
folder=build-tidy
sh scripts/configure.sh tidy $folder
stamps="$folder/clean"
mkdir -p "$stamps"
key=$(find include src tests bench examples cmake \( -name '*.[ch]pp' -o -name CMakeLists.txt \) -print0 | sort -z |
  xargs -0 cat .clang-tidy CMakeLists.txt CMakePresets.json scripts/tidy.sh | sha256sum | cut -c1-24)
export folder stamps key
sed -n 's/^  "file": "\(.*\)",*$/\1/p' $folder/compile_commands.json | grep -v -e 'html_template.cpp$' -e 'tests/methods/conformance_test.cpp$' | sort -u | xargs -P "$(nproc)" -I{} sh -c '
  stamp="$stamps/$key-$(echo "{}" | sha256sum | cut -c1-24)"
  [ -f "$stamp" ] && exit 0
  case "{}" in
    */tests/*|*/examples/*|*/bench/*|*/duplex_zoo.dir/*) checks=-bugprone-implicit-widening-of-multiplication-result,-bugprone-unused-raii,-misc-unused-using-decls ;;
    *) checks= ;;
  esac
  if clang-tidy --quiet -p $folder --checks="$checks" --extra-arg=-Wno-unknown-warning-option --extra-arg=-fdelayed-template-parsing "{}" >"$stamp.log" 2>"$stamp.err"; then
    rm -f "$stamp.err"
    mv "$stamp.log" "$stamp"
  else
    cat "$stamp.log"
    grep -v "warnings generated" "$stamp.err"
    exit 1
  fi'
