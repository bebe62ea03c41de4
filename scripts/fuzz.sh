#!/bin/sh
# fuzz.sh SECONDS: every reader gets random files for that long, as many readers at a time as there are cores.
set -eu
export seconds="$1"
export folder=build-fuzz
sh scripts/configure.sh fuzz $folder
cmake --build $folder --target fuzzers
$folder/fuzz/fuzz_seeds $folder/seeds | xargs -P "$(nproc)" -I{} sh -c '
  mkdir -p $folder/corpus/{}
  kept=fuzz/corpus/{}
  [ -d "$kept" ] || kept=
  if $folder/fuzz/fuzz_{} -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix=$folder/found-{}- $folder/corpus/{} $folder/seeds/{} $kept >$folder/fuzz-{}.log 2>&1; then
    echo "{}: $(sed -n "s/^stat::number_of_executed_units: *//p" $folder/fuzz-{}.log) files, none of them harmful"
  else
    tail -n 60 $folder/fuzz-{}.log
    echo "{}: failed; the file that did it is $folder/found-{}-*"
    exit 1
  fi'
