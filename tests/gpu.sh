#!/usr/bin/env bash
# Runs launch lists on the GPU that is here, buffer by buffer: models and single operations against golden results, library programs and programs put
# together by chance against the reference, on degenerate graphs and in every width; what is whole, bit for bit; recorded epochs beside launches
# one by one. Then whole stages: trainings against golden results, kinds of nodes, many graphs, columns to learn, stops and what goes on after them.
# At the end it says what ran, how much of it failed, and digests of what was trained.
# usage: tests/gpu.sh            SUITE=FILE  a test program that was built elsewhere (no cargo is needed then)
#                                WARPLOOM_TEST_PROGRAMS=200  so many programs put together by chance; 7..8: those from one to another
#                                WARPLOOM_TEST_LOOPS=200  the same of programs with loops
#                                SANITIZE=1  under compute-sanitizer too: TOOLS (memcheck racecheck synccheck initcheck) over SANITIZED (tests of kernels),
#                                each test in a process of its own, JOBS (4) at once, each SANITIZE_SECONDS (300) at most
#                                WARPLOOM_TEST_BRIEF=1  one type and order of each list
#                                REPEAT=20  trainings with dropout so often, beside another training: the same bytes? WARPLOOM=FILE is the program
#                                TESTS="golden_lists:: totals::"  these alone; TESTS=none  none
# Without a GPU nothing runs, and this says so.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -e /dev/nvidia0 ]; then
  echo "NOTHING RAN: there is no GPU of NVIDIA here (no /dev/nvidia0). What is emitted for GPUs is compiled and tested by  make test"
  exit 0
fi
export WARPLOOM_TEST_GPU=1
echo "device: $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -1)"
status=0

suite_of() {
  if [ -n "${SUITE:-}" ]; then echo "$SUITE"; return; fi
  cargo test -p warploom-run --test suite --no-run --message-format=short 2>&1 | sed -n 's/.*(\(.*suite-[0-9a-f]*\)).*/\1/p'
}
# What ran, of which modules, what failed, and the digests of what was trained.
summed() {
  local said=$1 names=$2 result
  result=$(sed -n 's/^test result: [A-Za-z]*\. \([0-9]* passed; [0-9]* failed\);.*/\1/p' "$said" | tail -1)
  echo "ran: $(wc -l <<<"$names") tests: ${result:-THEY DID NOT END}; $(grep -c '^SKIPPED' "$said" || true) lines say what was skipped"
  sed 's/::.*//' <<<"$names" | sort | uniq -c | awk '{ printf "  %s %d", $2, $1 } END { print "" }'
  sed -n '/^failures:$/,$s/^    \([a-z_]*::.*\)/FAILED: \1/p' "$said" | sort -u
  sed -n 's/^recorded, \(.*\)/bits of \1/p' "$said"
}
of_lists="golden_lists:: operations:: bit_exactness:: cuda_graphs:: totals:: products:: losses:: widths:: library:: random_programs:: random_loops:: differential:: loop_algorithms:: analytics::"
of_stages="golden:: kinds:: many_graphs:: targets_and_splits:: inference:: training:: resume:: errors::"
tests=${TESTS:-$of_lists $of_stages}
if [ "$tests" != none ]; then
  suite=$(suite_of)
  echo "suite: $(sha256sum "$suite" | cut -c1-16)"
  # shellcheck disable=SC2086
  names=$("$suite" --list $tests | sed -n 's/: test$//p')
  [ -n "$names" ] || { echo "NOTHING RAN: no test is named $tests"; exit 1; }
  said=$(mktemp)
  # shellcheck disable=SC2086
  "$suite" $tests --test-threads "${THREADS:-8}" --nocapture 2>&1 | tee "$said" |
    grep --line-buffered -v '^ptxas' | grep --line-buffered -E 'apart|compared|differ|^recorded|^test |SKIPPED|panicked|: got |test result' || status=1
  summed "$said" "$names"
  rm -f "$said"
  if [ -z "${TESTS:-}" ]; then
    echo "in an order of near rows, and by groups of neighbours:"
    WARPLOOM_TEST_NEAR=1 WARPLOOM_TEST_BRIEF=1 "$suite" widths::sums_agree 2>&1 | grep -E '^test |panicked|test result' || status=1
    WARPLOOM_TEST_GROUPS=16,16,256 WARPLOOM_TEST_BRIEF=1 "$suite" widths::sums_agree 2>&1 | grep -E '^test |panicked|test result' || status=1
  fi
fi

# What a tool found in one test, which has a process of its own: a fault of one is no other's, and what did not end is told by its name.
sanitized() {
  local tool=$1 test=$2 said found begun=$SECONDS code=0
  said=$(mktemp)
  timeout "${SANITIZE_SECONDS:-300}" compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 1 "$suite" --exact "$test" >"$said" 2>&1 || code=$?
  # A test that is skipped asks nothing of the GPU.
  if grep -q 'before first instrumented API call' "$said"; then code=nothing; fi
  case $code in
    nothing) echo "$tool $test: NOT CHECKED, it asked nothing of the GPU" ;;
    0) echo "$tool $test: $(sed -n 's/^=* *\(.*SUMMARY.*\)/\1/p' "$said" | tail -1), $((SECONDS - begun)) s" ;;
    124) echo "$tool $test: NOT CHECKED, it did not end in ${SANITIZE_SECONDS:-300} s" ;;
    *)
      found=$(grep -E 'panicked|: got |=========' "$said" | head -30)
      echo "$tool $test: FAILED with $code"$'\n'"$found"
      ;;
  esac
  rm -f "$said"
  # Any failure is 1: at 255 xargs starts no more of them.
  [ "$code" = 0 ]
}
kernels="golden_lists:: operations:: totals:: products:: losses:: cuda_graphs::"
if [ -n "${SANITIZE:-}" ]; then
  suite=$(suite_of)
  export suite
  export -f sanitized
  # shellcheck disable=SC2086
  those=$("$suite" --list ${SANITIZED:-$kernels} | sed -n 's/: test$//p')
  [ -n "$those" ] || { echo "NOTHING RAN: no test is named ${SANITIZED:-$kernels}"; exit 1; }
  for tool in ${TOOLS:-memcheck racecheck synccheck initcheck}; do
    echo "compute-sanitizer, $tool, $(wc -l <<<"$those") tests, ${JOBS:-4} at once:"
    xargs -P "${JOBS:-4}" -I '{}' bash -c 'sanitized "$@"' _ "$tool" '{}' <<<"$those" || status=1
  done
fi

# Bytes of what a training leaves, of each of so many trainings in a store of its own.
repeated() {
  local program=$1 folder=$2
  for _ in $(seq "$REPEAT"); do
    "$binary" pipeline "pipelines/$program.yaml" --device cuda --store "$folder/store" --set dataset=pubmed --set run.epochs=60 --force --quiet >/dev/null 2>"$folder/said" ||
      { cat "$folder/said"; return 1; }
    cat "$folder"/store/run-v*/*/parameters.safetensors "$folder"/store/run-v*/*/predictions.parquet | sha256sum
  done | sort | uniq -c |
    awk -v program="$program" '{ count++; runs += $1; bits = bits " " substr($2, 1, 16) } END { printf "%s: %d runs, %d different results:%s\n", program, runs, count, bits; exit count != 1 }'
}
if [ -n "${REPEAT:-}" ]; then
  binary=${WARPLOOM:-target/release/warploom}
  folder=$(mktemp -d)
  # The other training, of a new seed each time, so that the GPU is busy and not the host; whoever ends it waits until nothing writes into the folder any more.
  (
    seed=0
    trap 'kill "$beside" 2>/dev/null || true; wait; exit 0' TERM
    while true; do
      seed=$((seed + 1))
      "$binary" pipeline pipelines/gin.yaml --device cuda --store "$folder/load" --set dataset=amazon0505 --set run.epochs=200 --set run.seed="$seed" --quiet >/dev/null 2>"$folder/said_beside" &
      beside=$!
      wait "$beside" || { touch "$folder/failed_beside"; exit 1; }
    done
  ) &
  load=$!
  trap 'kill "$load" 2>/dev/null || true; wait "$load" || true; rm -rf "$folder"' EXIT
  for program in ${PROGRAMS:-gcn gat gin sage}; do
    mkdir -p "$folder/$program"
    repeated "$program" "$folder/$program" || status=1
  done
  [ ! -e "$folder/failed_beside" ] || { echo "NOT CHECKED BESIDE ANOTHER TRAINING, which failed:"; cat "$folder/said_beside"; status=1; }
fi
exit "$status"
