#!/usr/bin/env bash
# Builds the binaries that the end-to-end tests start, runs every test, and lists last what was skipped and why.
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
cargo build --workspace --bins --quiet
status=0
cargo test --workspace --quiet --no-fail-fast -- --show-output >"$log" 2>&1 || status=$?
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
awk '/^test result:/ { for (i = 1; i < NF; i++) { if ($(i + 1) == "passed;") passed += $i; if ($(i + 1) == "failed;") failed += $i } }
     END { printf "%d passed, %d failed\n", passed, failed }' "$log"
exit "$status"
