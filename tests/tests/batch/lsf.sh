#!/usr/bin/env bash
#BSUB -J NAME[1-6]
#BSUB -o SUBMISSION/logs/%J_%I.out
#BSUB -r
#BSUB -W 10
#BSUB -n 4
#BSUB -M 8192MB

# Array 3 of the submission ID: run, 6 task(s).
# It waits for array 2. By hand, its first task:  WARPLOOM_TASK=1 bash array-3.sh
# A task asks the store first: submitted again, it does only what is missing.
# What has become of it:
#   warploom status SUBMISSION

set -u
cd FOLDER 2>/dev/null
task="${LSB_JOBINDEX:-${WARPLOOM_TASK:?set WARPLOOM_TASK to a task}}"
# A signal ends `wait`, not the task: it saves its state first.
child= signal= again=1 ended=0
pass() { again=1 signal=$1; [ -z "$child" ] || kill "-$1" "$child" 2>/dev/null; }
trap 'pass USR1' USR1
trap 'ended=1; pass TERM' TERM
warploom task SUBMISSION --array 3 --number "$((task - 1))" --stop-after 480s &
child=$!
[ -z "$signal" ] || pass "$signal"
while [ "$again" = 1 ]; do again=0; wait "$child"; code=$?; done
# 75: stopped, its state is saved. 4: a fault that may pass; the task itself gives
# another code when it has come three times. SIGTERM: it was cancelled, or makes room.
case $code in
75|4)
  job="${LSB_JOBID}[${LSB_JOBINDEX}]"
  if [ "$ended" = 0 ] || false; then
    brequeue -r -e -d "$job"
  fi;;
esac
exit "$code"
