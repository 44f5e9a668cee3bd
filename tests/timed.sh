#!/usr/bin/env bash
# Runs one program of tests and says before its output which it is, and behind it how long it took. Cargo calls it for each (`runner`).
# The time of each test is asked of libtest, whose flag for it counts as unstable: the variable lets this flag through, at run time and in
# this program alone; no compiler sees it. The toolchain is pinned, so the flag stays as it is.
name=${CARGO_PKG_NAME:-} file=$(basename "$1")
name=${name#warploom-}:${file%-*}
# `tests/run.sh` asks for the end-to-end tests and for all others apart; by hand, all are run.
case ${WARPLOOM_TESTS_OF:-} in
commands) [ "$name" = tests:all ] || exit 0 ;;
crates) [ "$name" != tests:all ] || exit 0 ;;
esac
echo "suite: $name"
TIMEFORMAT="took: $name %R %U %S"
time RUSTC_BOOTSTRAP=1 "$@" -Z unstable-options --report-time
