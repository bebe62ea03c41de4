#!/bin/sh
# clang-tidy over every translation unit, as many at a time as there are cores. A file that was found
# clean before, with the same headers and settings, is passed over.
set -eu
folder=build-tidy
sh scripts/configure.sh tidy $folder
stamps="$folder/clean"
mkdir -p "$stamps"
headers=$(find include src tests bench -name '*.hpp' -print0 | sort -z | xargs -0 cat .clang-tidy CMakeLists.txt | sha256sum | cut -c1-16)
export folder stamps headers
find src tests bench examples -name '*.cpp' | sort | xargs -P "$(nproc)" -I{} sh -c '
  grep -q "/{}\"" $folder/compile_commands.json || exit 0
  key=$( { echo "$headers"; cat "{}"; } | sha256sum | cut -c1-24)
  [ -f "$stamps/$key" ] && exit 0
  if clang-tidy --quiet -p $folder --extra-arg=-Wno-unknown-warning-option "{}" >"$stamps/$key.log" 2>"$stamps/$key.err"; then
    rm -f "$stamps/$key.err"
    mv "$stamps/$key.log" "$stamps/$key"
  else
    cat "$stamps/$key.log"
    grep -v "warnings generated" "$stamps/$key.err"
    exit 1
  fi'
