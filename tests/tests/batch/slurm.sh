#!/usr/bin/env bash
#SBATCH --job-name=NAME
#SBATCH --array=0-1%8
#SBATCH --output=SUBMISSION/logs/3-%a.txt
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:USR1@120
#SBATCH --time=02:00:00
#SBATCH --mem=1024M
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --gpus-per-task=1

# Array 3 of the submission ID: plan, 2 task(s).
# It waits for array 2. By hand:  sbatch SUBMISSION/array-3.sh
# A task asks the store first: submitted again, it does only what is missing.
# What has become of it:
#   warploom status SUBMISSION

set -u
cd FOLDER 2>/dev/null
set -e
module load cuda/13
set +e
task="${SLURM_ARRAY_TASK_ID:-${WARPLOOM_TASK:?set WARPLOOM_TASK to a task}}"
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
    exec warploom task SUBMISSION --array 3 --number "$task" --stop-after 7080s >&3 3>&-
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
  job="${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
  if [ "$ended" = 0 ] || scontrol --oneliner show job "$job" | grep -q "PreemptTime=[0-9]"; then
    scontrol requeue "$job"
  fi;;
esac
exit "$code"
