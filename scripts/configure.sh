#!/bin/sh
# configure.sh PRESET FOLDER [-DNAME=VALUE ...]: runs CMake unless the folder is configured so already.
set -eu
preset=$1
folder=$2
shift 2
wanted="$preset $* $(cat CMakePresets.json CMakeLists.txt | sha256sum | cut -c1-16)"
stamp="$folder/.configured"
if [ -f "$folder/build.ninja" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
  exit 0
fi
mkdir -p "$folder"
if ! cmake --preset "$preset" "$@" >"$folder/configure.log" 2>&1; then
  cat "$folder/configure.log" >&2
  exit 1
fi
echo "$wanted" >"$stamp"
