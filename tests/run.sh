#!/usr/bin/env bash
# Builds the binaries that the end-to-end tests start, runs every test, and lists last what was skipped and why.
# Exits with the status of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
log=target/test.log
mkdir -p target
cargo build --workspace --bins --quiet
status=0
cargo test --workspace --quiet --no-fail-fast -- --show-output >"$log" 2>&1 || status=$?
# Output of tests that passed is in the log; here only results and whatever failed.
if [ "$status" -ne 0 ]; then
  cat "$log"
else
  grep -E '^test result:' "$log"
fi
echo "the whole log: $log"
if grep -q '^SKIPPED' "$log"; then
  echo "skipped:"
  grep '^SKIPPED' "$log" | sort -u | sed 's/^/  /'
fi
awk '/^test result:/ { for (i = 1; i < NF; i++) { if ($(i + 1) == "passed;") passed += $i; if ($(i + 1) == "failed;") failed += $i } }
     END { printf "%d passed, %d failed\n", passed, failed }' "$log"
exit "$status"
