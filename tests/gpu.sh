#!/usr/bin/env bash
# Runs launch lists on the GPU that is here, buffer by buffer: models against golden results, library programs and programs put together by
# chance against the reference, on degenerate graphs and in every width.
# usage: tests/gpu.sh            SUITE=FILE  a test program that was built elsewhere (no cargo is needed then)
#                                WARPLOOM_TEST_PROGRAMS=200  so many programs put together by chance; 7..8: those from one to another
#                                SANITIZE=1  under compute-sanitizer too: memcheck, racecheck, synccheck
# Without a GPU nothing runs, and this says so.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -e /dev/nvidia0 ]; then
  echo "NOTHING RAN: there is no GPU of NVIDIA here (no /dev/nvidia0). What is emitted for GPUs is compiled and tested by  make test"
  exit 0
fi
suite=${SUITE:-}
if [ -z "$suite" ]; then
  suite=$(cargo test -p warploom-run --test suite --no-run --message-format=short 2>&1 | sed -n 's/.*(\(.*suite-[0-9a-f]*\)).*/\1/p')
fi
export WARPLOOM_TEST_GPU=1
echo "device: $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -1)"
echo "suite: $(sha256sum "$suite" | cut -c1-16)"
"$suite" exact:: totals:: widths:: library:: chance:: differential:: --test-threads "${THREADS:-8}" --nocapture 2>&1 |
  grep --line-buffered -v '^ptxas' | grep --line-buffered -E 'apart|compared|^test |SKIPPED|panicked|: got |test result'
if [ -n "${SANITIZE:-}" ]; then
  for tool in memcheck racecheck synccheck; do
    echo "compute-sanitizer, $tool:"
    compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 1 "$suite" exact::rgcn 2>&1 | grep -E 'test result|ERROR SUMMARY|RACECHECK SUMMARY'
  done
fi
