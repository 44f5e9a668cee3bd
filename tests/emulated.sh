#!/usr/bin/env bash
# Runs launch lists on the emulated GPU of tests/emulator against golden results and the reference, with threads and blocks in either order:
# what differs between the two is a race.
# usage: tests/emulated.sh [FILTER...]      default: golden_lists:: operations:: bit_exactness:: cuda_graphs:: totals:: products:: widths:: random_programs::, stops between graphs of
#                                    epochs, what library:: has on one graph, and loops
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# = 0 ]; then set -- golden_lists:: operations:: bit_exactness:: cuda_graphs:: resume::a_training_stopped_between totals:: products:: widths:: random_programs:: library::programs_agree_on_all library::programs_that library::values_of differential::iterations analytics:: custom_programs:: resume::an_iteration resume::compiled_loops; fi
folder=${CARGO_TARGET_DIR:-target}/emulator
tests/emulator/build.sh "$folder"
folder=$(cd "$folder" && pwd)
suite=$(cargo test -p warploom-run --test suite --no-run --message-format=short 2>&1 | sed -n 's/.*(\(.*suite-[0-9a-f]*\)).*/\1/p')
export WARPLOOM_TEST_GPU=1 LD_LIBRARY_PATH="$folder" WARPLOOM_NVRTC="$folder" EMULATOR_CACHE="$folder/kernels"
for order in forward backward; do
  echo "threads and blocks $order:"
  EMULATOR_ORDER=$order "$suite" "$@" --test-threads "${THREADS:-2}" 2>&1 | grep -E '^test |panicked|emulator:'
done
