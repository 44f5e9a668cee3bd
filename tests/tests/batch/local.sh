#!/usr/bin/env bash

# Array 3 of the submission ID: run, 6 task(s).
# It waits for array 2. By hand, its first task:  WARPLOOM_TASK=0 bash array-3.sh
# A task asks the store first: submitted again, it does only what is missing.
# What has become of it:
#   warploom status SUBMISSION

set -u
cd FOLDER 2>/dev/null
task="${WARPLOOM_TASK:-${WARPLOOM_TASK:?set WARPLOOM_TASK to a task}}"
# A signal ends `wait`, not the task: it saves its state first.
child= signal= again=1 ended=0
pass() { again=1 signal=$1; [ -z "$child" ] || kill "-$1" "$child" 2>/dev/null; }
trap 'pass USR1' USR1
trap 'ended=1; pass TERM' TERM
warploom task SUBMISSION --array 3 --number "$task" --threads 2 &
child=$!
[ -z "$signal" ] || pass "$signal"
while [ "$again" = 1 ]; do again=0; wait "$child"; code=$?; done
exit "$code"
