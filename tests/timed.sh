#!/usr/bin/env bash
# Runs one program of tests and says before its output which it is, and behind it how long it took. Cargo calls it for each (`runner`).
# The time of each test is asked of libtest, whose flag for it counts as unstable: the variable lets this flag through, at run time and in
# this program alone; no compiler sees it. The toolchain is pinned, so the flag stays as it is.
name=${CARGO_PKG_NAME:-} file=$(basename "$1")
name=${name#warploom-}:${file%-*}
# `tests/run.sh` runs two halves at once, of about equal time, and what waits for daemons beside them; by hand, all are run.
case $name in
tests:all | plan:nvrtc) half=ends ;;
tests:slurm) half=waits ;;
*) half=parts ;;
esac
[ "${WARPLOOM_TESTS_OF:-$half}" = "$half" ] || exit 0
echo "suite: $name"
TIMEFORMAT="took: $name %R %U %S"
time RUSTC_BOOTSTRAP=1 "$@" -Z unstable-options --report-time
