#!/usr/bin/env bash
# Builds every binary and every program of tests, runs all tests, and lists last what took longest, and what was skipped and why.
# Exits with the status of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
log=target/test.log
mkdir -p target
# Whether a change lands depends on the change alone: random inputs come from one seed. Long campaigns draw their own,
# and more of them; every failure prints its smallest input.
if [ -z "${WARPLOOM_TEST_LONG:-}" ]; then
  export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-1}"
else
  export PROPTEST_CASES="${PROPTEST_CASES:-20000}"
fi
# Examples are not built here; `make lint` checks them.
TIMEFORMAT='%R %U %S'
{ time cargo build --workspace --bins --tests --quiet 2>&3; } 3>&2 2>target/test.built
begun=$SECONDS
status=0
# Two programs of tests at once (`tests/timed.sh` says which): one by itself does not keep two cores busy. A third one waits for Slurm most of the time.
tests_of() {
  WARPLOOM_TESTS_OF=$1 cargo test --workspace --tests --no-fail-fast --config "target.'cfg(all())'.runner = ['$PWD/tests/timed.sh']" \
    -- --show-output >"target/test-$1.log" 2>&1
}
# A group of processes of its own: Ctrl-C is none of its business, so it is ended by the trap, with all that it started.
set -m
tests_of ends &
ends=$!
tests_of waits &
waits=$!
set +m
trap 'kill -TERM -- "-$ends" "-$waits" 2>/dev/null || true' EXIT
tests_of parts || status=$?
wait "$ends" || status=$?
wait "$waits" || status=$?
trap - EXIT
cat target/test-parts.log target/test-ends.log target/test-waits.log >"$log"
cargo test --workspace --doc --no-fail-fast >>"$log" 2>&1 || status=$?
# Output of tests that passed is in the log; here only results, and what failed: tests, programs that died, which have no result, and a build.
if [ "$status" -ne 0 ] && ! grep -q '^test result:' "$log"; then
  cat "$log"
else
  awk -v failed="$status" '
    function died() { if (begun && failed) printf "%s", begun; begun = "" }
    /^running [0-9]+ tests?$/ { died(); said = 1 }
    said { begun = begun $0 "\n" }
    /^failures:$/ { told = 1 }
    told || /^test result:/ || (failed && /^error/) { print }
    /^test result:/ { told = 0; said = 0; begun = "" }
    END { died() }' "$log"
fi
echo "the whole log: $log"
if grep -q '^SKIPPED' "$log"; then
  echo "skipped:"
  grep '^SKIPPED' "$log" | sort -u | sed 's/^/  /'
fi
# Each program of tests says its own time (`tests/timed.sh`), and so does each test: seconds by the clock, two at once.
echo "the ten slowest tests, seconds by the clock:"
awk '/^suite: / { suite = $2 } /^test .* <[0-9.]+s>$/ { took = $NF; gsub(/[<>s]/, "", took); printf "  %8.1f  %s %s\n", took, suite, $2 }' "$log" |
  sort -rn | sed -n 1,10p
echo "seconds of processors, of those with five or more:"
awk '/^took: / && $4 + $5 >= 5 { printf "  %8.0f  %s\n", $4 + $5, $2 }' "$log" | sort -rn
awk -v clock=$((SECONDS - begun)) '
  FNR == NR { printf "built in %.0f s (%.0f s of processors); ", $1, $2 + $3; next }
  /^took: / { spent += $4 + $5 }
  /^test result:/ { for (i = 1; i < NF; i++) { if ($(i + 1) == "passed;") passed += $i; if ($(i + 1) == "failed;") failed += $i } }
  END { printf "tested in %d s (%.0f s of processors)\n%d passed, %d failed\n", clock, spent, passed, failed }' target/test.built "$log"
exit "$status"
