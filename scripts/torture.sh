#!/bin/sh
# Kills runs of clean, solve and few-shot with SIGKILL at random moments and goes on with each: the results must be those
# of a run that was not killed, byte by byte. Then a checkpoint that is cut short, a disk that is full and a folder that
# cannot be written. usage: torture.sh TOOL KILLS SEED
set -u
tool=$(realpath "$1")
kills=$2
seed=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

random() { # of 0..1, the $1-th
  awk -v seed="$seed" -v n="$1" 'BEGIN { srand(seed * 7919 + n); rand(); print rand() }'
}

# What each job is told, what it leaves, and how it is gone on with.
command_of() {
  case $1 in
  clean) echo "clean --demo mnist --data-dir data/mnist --samples 4000 --trusted-samples 300 --save-every 0.05 --threads 2" ;;
  solve_automatic) echo "solve --problem counter-example --n 300 --matrix diagonal --condition 10000 --smallest 0.0001 --every 20 --save-every 0.02" ;;
  solve_recovering) echo "solve --problem quadratic --n 150 --m 200 --condition 900 --alpha 0.002 --beta 50 --dual relaxed --iterations 15000 --every 500 --save-every 0.05" ;;
  solve_fused) echo "solve --problem hyper-cleaning --samples 4000 --trusted 1000 --features 40 --classes 5 --alpha 0.1 --beta 0.5 --upper adam --mixing 4 --iterations 600 --every 100 --save-every 0.05" ;;
  solve) echo "solve --problem quadratic --n 150 --m 200 --condition 900 --alpha 0.002 --beta 0.3 --dual relaxed --iterations 20000 --every 500 --save-every 0.05" ;;
  few-shot) echo "few-shot --device cpu --threads 2 --ways 3 --queries 3 --meta-batch 3 --head-steps 4 --images-per-class 20 --steps 25 --look-every 10 --look-tasks 6 --test-tasks 12 --save-every 0.05" ;;
  esac
}
results_of() {
  case $1 in
  clean) echo "suspects.csv weights.csv model.npy model.json" ;;
  solve*) echo "solution.csv" ;;
  few-shot) echo "backbone.pt" ;;
  esac
}

same_results() { # of a job, in two folders
  for file in $(results_of "$1"); do
    cmp -s "$2/$file" "$3/$file" || return 1
  done
}

run() { # quietly
  "$tool" "$@" > "$work/log" 2>&1
}

go_on() { # with a job in a folder that was killed; from its beginning where nothing was saved
  if [ -e "$2/checkpoint.dpx" ] || [ -e "$2/checkpoint.previous.dpx" ]; then
    run "${1%%_*}" --resume "$2"
  else
    # shellcheck disable=SC2046
    run $(command_of "$1") --out "$2"
  fi
}

jobs=${JOBS:-"clean solve solve_automatic solve_recovering solve_fused few-shot"}
for job in $jobs; do
  begin=$(date +%s.%N)
  # shellcheck disable=SC2046
  run $(command_of "$job") --out "$work/whole-$job" || fail "$job does not run: $(tail -n 1 "$work/log")"
  eval "seconds_$(echo "$job" | tr - _)=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN { print b - a }')"
  eval "echo \"$job: \$seconds_$(echo "$job" | tr - _) s without a kill\""
done

resumed=0
for kill in $(seq "$kills"); do
  job=$(echo "$jobs" | awk -v n="$kill" '{ print $((n - 1) % NF + 1) }')
  eval "seconds=\$seconds_$(echo "$job" | tr - _)"
  folder=$work/killed
  rm -rf "$folder"
  # shellcheck disable=SC2046
  setsid "$tool" $(command_of "$job") --out "$folder" > "$work/log" 2>&1 &
  victim=$!
  sleep "$(awk -v s="$seconds" -v r="$(random "$kill")" 'BEGIN { print s * r }')"
  kill -KILL -"$victim" 2> /dev/null
  wait "$victim" 2> /dev/null
  [ -e "$folder/checkpoint.dpx" ] && resumed=$((resumed + 1))
  if ! go_on "$job" "$folder"; then
    fail "kill $kill: $job does not go on: $(tail -n 1 "$work/log")"
  elif ! same_results "$job" "$work/whole-$job" "$folder"; then
    fail "kill $kill: $job ends with other results"
  fi
done
echo "$kills kills, $resumed with a checkpoint to go on from, $failures failures"

# A checkpoint that is cut short: the one before it is used.
job=solve
# shellcheck disable=SC2046
[ -d "$work/whole-$job" ] || run $(command_of $job) --out "$work/whole-$job" || fail "$job does not run"
folder=$work/cut
# shellcheck disable=SC2046
setsid "$tool" $(command_of $job) --out "$folder" > "$work/log" 2>&1 &
victim=$!
tries=0
while [ ! -e "$folder/checkpoint.previous.dpx" ] && [ $tries -lt 1000 ]; do
  sleep 0.01
  tries=$((tries + 1))
done
kill -KILL -"$victim" 2> /dev/null
wait "$victim" 2> /dev/null
size=$(wc -c < "$folder/checkpoint.dpx")
truncate -s $((size / 2)) "$folder/checkpoint.dpx"
go_on $job "$folder" || fail "a checkpoint that is cut short: $(tail -n 1 "$work/log")"
grep -q "going on from the one before" "$work/log" || fail "a checkpoint that is cut short is not told of"
same_results $job "$work/whole-$job" "$folder" || fail "a checkpoint that is cut short leads to other results"
echo "a checkpoint that is cut short: the one before it is used"

# A disk that is full (no file may grow beyond 4 KiB): what was written stays, and the run says so.
folder=$work/full
# shellcheck disable=SC2046
run $(command_of $job) --iterations 100 --out "$folder" || fail "solve does not run"
before=$(cksum < "$folder/checkpoint.dpx")
(
  trap '' XFSZ
  ulimit -f 8
  "$tool" solve --resume "$folder" --iterations 20000 > "$work/log" 2>&1
) && fail "a full disk is not an error"
[ "$before" = "$(cksum < "$folder/checkpoint.dpx")" ] || fail "a full disk has damaged the checkpoint"
run solve --resume "$folder" --iterations 20000 || fail "after a full disk the run does not go on"
same_results $job "$work/whole-$job" "$folder" || fail "after a full disk the results are others"
echo "a full disk: nothing that was written is lost"

# A folder that cannot be written is refused before any work.
folder=$work/read-only
mkdir "$folder"
chmod a-w "$folder"
chmod a+rx "$work"
as_another=""
[ "$(id -u)" = 0 ] && as_another="setpriv --reuid=65534 --clear-groups"
# shellcheck disable=SC2046
$as_another "$tool" $(command_of $job) --out "$folder" > "$work/log" 2>&1
[ $? = 2 ] || fail "a folder that cannot be written is not refused: $(tail -n 1 "$work/log")"
echo "a folder that cannot be written: $(tail -n 1 "$work/log" | sed "s|$work|…|")"

[ $failures = 0 ] && echo "all is well" || exit 1
