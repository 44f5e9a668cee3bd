#!/usr/bin/env bash

# Array 3 of the submission ID: run, 6 task(s).
# It waits for array 2. By hand, its first task:  WARPLOOM_TASK=0 bash array-3.sh
# A task asks the store first: submitted again, it does only what is missing.
# What has become of it:
#   warploom status SUBMISSION

set -u
cd FOLDER 2>/dev/null
task="${WARPLOOM_TASK:-${WARPLOOM_TASK:?set WARPLOOM_TASK to a task}}"
warploom task SUBMISSION --array 3 --number "$task" --threads 2 &
child=$!
# A signal ends `wait`, not the task: it saves its state first.
again=1 ended=0
trap 'again=1; kill -USR1 "$child" 2>/dev/null' USR1
trap 'again=1; ended=1; kill -TERM "$child" 2>/dev/null' TERM
while [ "$again" = 1 ]; do again=0; wait "$child"; code=$?; done
exit "$code"
