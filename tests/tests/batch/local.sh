#!/usr/bin/env bash

# Array 3 of the submission ID: run, 6 task(s).
# It waits for array 2. By hand, its first task:  WARPLOOM_TASK=0 bash array-3.sh
# A task asks the store first: submitted again, it does only what is missing.
# What has become of it:
#   warploom status SUBMISSION

set -u
cd FOLDER 2>/dev/null
task="${WARPLOOM_TASK:-${WARPLOOM_TASK:?set WARPLOOM_TASK to a task}}"
# Signals are passed to the task, which saves its state first. Its exit code
# comes through a pipe: where a signal and the end of the task meet, `wait` may give -1.
child= signal= code= ended=0
pass() { signal=$1; [ -z "$child" ] || kill "-$1" "$child" 2>/dev/null; }
trap 'pass USR1' USR1
trap 'ended=1; pass TERM' TERM
exec 3>&1 4< <(
  trap '' TERM USR1
  (
    trap - TERM USR1
    exec warploom task SUBMISSION --array 3 --number "$task" --threads 2 >&3 3>&-
  ) &
  echo "$!"; wait "$!"; echo "$?"
)
read -r child <&4
[ -z "$signal" ] || pass "$signal"
until read -r -t 5 code <&4 || [ "$?" -le 128 ]; do :; done
code=${code:-137}
exit "$code"
