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
    exec warploom task SUBMISSION --array 3 --number "$((task - 1))" --stop-after 480s >&3 3>&-
  ) &
  echo "$!"; wait "$!"; echo "$?"
)
read -r child <&4
[ -z "$signal" ] || pass "$signal"
until read -r -t 5 code <&4 || [ "$?" -le 128 ]; do :; done
code=${code:-137}
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
