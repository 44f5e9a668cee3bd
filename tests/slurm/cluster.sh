#!/usr/bin/env bash
# A Slurm cluster on loopback for tests: one controller and NODES slurmd on this host, run as root.
#   cluster.sh install              the packages that it needs, from Debian (slurm-wlm, munge)
#   cluster.sh start | stop | status
#   cluster.sh env                  prints what clients need: SLURM_CONF
#   cluster.sh fail NODE | recover NODE            power cut of a node, and back
#   cluster.sh release                             resumes drained nodes and lets held jobs go
#   cluster.sh controller-stop | controller-start  the controller dies, and comes back
# Variables: SLURM_LOOPBACK_DIR, all state, logs and pids (a socket lies in it: at most 80 letters);
# EXTRA_CONF, lines added to slurm.conf; NODES CPUS GPUS MEM_MB BASE_PORT, what each node claims.
# A second start does nothing. stop ends only processes whose pid this script wrote, and their jobs.
set -euo pipefail
cmd=${1:-}; D=${SLURM_LOOPBACK_DIR:-target/slurm}
NODES=${NODES:-3}; CPUS=${CPUS:-4}; GPUS=${GPUS:-2}; MEM_MB=${MEM_MB:-64000}; BASE_PORT=${BASE_PORT:-17000}
if [ "$cmd" = install ]; then
  command -v slurmctld >/dev/null && command -v munged >/dev/null && exit 0
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -q && apt-get install -y -q --no-install-recommends slurm-wlm munge; } >&2
  exit
fi
mkdir -p "$D"; D=$(cd "$D" && pwd -P)
[ "${#D}" -le 80 ] || { echo "error: $D is too long for a socket path. hint: set SLURM_LOOPBACK_DIR=/tmp/slurm-loopback" >&2; exit 1; }
export SLURM_CONF="$D/slurm.conf"

alive() { # pidfile, name: true if that pid is still our program
  local p; p=$(cat "$1" 2>/dev/null) || return 1
  [ -n "$p" ] && [ "$(cat "/proc/$p/comm" 2>/dev/null)" = "$2" ] && tr '\0' ' ' <"/proc/$p/cmdline" | grep -qF "$D"
}
wait_for() { # seconds, command...
  local end=$(( $(date +%s) + $1 )); shift
  until "$@" >/dev/null 2>&1; do [ "$(date +%s)" -lt "$end" ] || return 1; sleep 0.1; done
}
slurmd_up() { # node number
  alive "$D/slurmd.wl$1.pid" slurmd && return
  mkdir -p "$D/spool.wl$1"
  slurmd -N "wl$1" -f "$SLURM_CONF" -L "$D/slurmd.wl$1.log"     # forks; writes its pid file
  wait_for 10 alive "$D/slurmd.wl$1.pid" slurmd || { echo "error: slurmd wl$1 did not start, see $D/slurmd.wl$1.log" >&2; exit 1; }
}
step_pids() { # pids of the slurmstepd of a node (they hold its log open), then of all that descends from them
  local p q l=""
  for p in $(pgrep -x slurmstepd || true); do
    if ls -l "/proc/$p/fd" 2>/dev/null | grep -qF "$D/slurmd.$1.log"; then l="$l $p"; fi
  done
  for p in $l; do echo "$p"; done
  while [ -n "$l" ]; do q=""; for p in $l; do q="$q $(pgrep -P "$p" | tr '\n' ' ' || true)"; done; l=$(echo $q); for p in $l; do echo "$p"; done; done
}
kill_node() { # slurmd first, then its steps, then the jobs: as when the power goes, nobody is left to report
  local p; alive "$D/slurmd.$1.pid" slurmd && kill -KILL "$(cat "$D/slurmd.$1.pid")"
  for p in $(step_pids "$1"); do kill -KILL "$p" 2>/dev/null || true; done; rm -f "$D/slurmd.$1.pid"
}

case $cmd in
start)
  for b in munged slurmctld slurmd sbatch; do command -v $b >/dev/null || { echo "error: $b not found. hint: apt-get install slurm-wlm munge" >&2; exit 1; }; done
  if alive "$D/slurmctld.pid" slurmctld; then
    alive "$D/munged.pid" munged && echo "already up: SLURM_CONF=$SLURM_CONF" && exit 0
    echo "munged of $D is gone: starting anew" >&2; "$0" stop >/dev/null
  fi
  mkdir -p "$D/ctld"
  [ -s "$D/munge.key" ] || { (umask 077; head -c 1024 /dev/urandom >"$D/munge.key"); }
  cat >"$D/slurm.conf" <<C
ClusterName=loopback
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$BASE_PORT
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
# a requeued job waits cred_expire seconds before it may start again (default 120)
AuthInfo=socket=$D/munge.socket,cred_expire=5
StateSaveLocation=$D/ctld
SlurmdSpoolDir=$D/spool.%n
SlurmctldPidFile=$D/slurmctld.pid
SlurmdPidFile=$D/slurmd.%n.pid
SlurmctldLogFile=$D/slurmctld.log
SlurmdLogFile=$D/slurmd.%n.log
# no accounting database: finished jobs stay in memory for MinJobAge seconds (scontrol show job) and get a line in jobs.txt
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$D/jobs.txt
MinJobAge=86400
JobAcctGatherType=jobacct_gather/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0,defer_batch=0,requeue_delay=1
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
SlurmdTimeout=5
SlurmctldTimeout=30
MessageTimeout=5
BatchStartTimeout=5
KillWait=2
InactiveLimit=0
Waittime=0
JobRequeue=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
MaxArraySize=${MAX_ARRAY:-1001}
MaxJobCount=20000
${EXTRA_CONF:-}
NodeName=DEFAULT CPUs=$CPUS Sockets=1 CoresPerSocket=$CPUS ThreadsPerCore=1 RealMemory=$MEM_MB Gres=gpu:$GPUS State=UNKNOWN
$(for i in $(seq "$NODES"); do echo "NodeName=wl$i NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((BASE_PORT + i))"; done)
PartitionName=batch Nodes=wl[1-$NODES] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO PriorityTier=1
PartitionName=urgent Nodes=wl[1-$NODES] MaxTime=INFINITE State=UP OverSubscribe=NO PriorityTier=9
C
  # fake GPUs: with File= Slurm sets CUDA_VISIBLE_DEVICES, as on a real node; any character device will do
  { echo "AutoDetect=off"; for g in $(seq "$GPUS"); do echo "NodeName=wl[1-$NODES] Name=gpu File=/dev/tty$g"; done; } >"$D/gres.conf"
  for c in "$D"/spool.*; do [ ! -e "$c" ] || kill_node "${c##*/spool.}"; done      # left from a controller that died
  rm -f "$D/slurmctld.pid"
  trap '[ $? = 0 ] || "$0" stop >/dev/null' EXIT
  alive "$D/munged.pid" munged || munged --force --key-file="$D/munge.key" --socket="$D/munge.socket" --pid-file="$D/munged.pid" --log-file="$D/munged.log" --seed-file="$D/munge.seed"
  slurmctld -c -f "$SLURM_CONF" -L "$D/slurmctld.log"      # -c: forget the jobs of an earlier start
  for i in $(seq "$NODES"); do slurmd_up "$i"; done
  wait_for 30 bash -c '[ "$(sinfo -h -N -t idle -o %N | sort -u | wc -l)" = '"$NODES"' ]' || { sinfo >&2; echo "error: nodes not idle after 30 s, see $D/*.log" >&2; exit 1; }
  echo "up: $NODES nodes. export SLURM_CONF=$SLURM_CONF" ;;
stop)
  [ -e "$SLURM_CONF" ] || { echo "not started: $D"; exit 0; }
  if alive "$D/slurmctld.pid" slurmctld; then timeout 5 scancel -u root 2>/dev/null || true; kill "$(cat "$D/slurmctld.pid")" 2>/dev/null || true; fi
  for c in "$D"/spool.*; do [ -e "$c" ] && kill_node "${c##*/spool.}"; done
  wait_for 5 bash -c '! kill -0 '"$(cat "$D/slurmctld.pid" 2>/dev/null || echo 999999999)" || kill -KILL "$(cat "$D/slurmctld.pid")" 2>/dev/null || true
  for p in $(pgrep -x munged || true); do       # every munged on this folder's socket is ours
    if tr '\0' '\n' <"/proc/$p/cmdline" | grep -qxF -- "--socket=$D/munge.socket"; then kill "$p"; fi
  done
  rm -f "$D/slurmctld.pid"; echo "stopped: $D (logs kept)" ;;
status)
  alive "$D/slurmctld.pid" slurmctld || { echo "down: $D"; exit 3; }
  sinfo -N -o '%N %T %C %G'; squeue -o '%i %j %T %R' ;;
controller-stop) kill -KILL "$(cat "$D/slurmctld.pid")"; echo "the controller is gone" ;;
controller-start)
  rm -f "$D/slurmctld.pid"; slurmctld -f "$SLURM_CONF" -L "$D/slurmctld.log"      # -f without -c: it remembers its jobs
  wait_for 20 sinfo -h || { echo "error: the controller does not answer, see $D/slurmctld.log" >&2; exit 1; }
  echo "the controller is back" ;;
env) echo "export SLURM_CONF=$SLURM_CONF" ;;
fail) kill_node "${2:?node}"; echo "$2 is gone (slurmd, its steps and job processes killed)" ;;
recover) slurmd_up "${2#wl}"; "$0" release; echo "$2 is back" ;;
release) # as an administrator does, after a look at nodes and jobs: what failed to start while a node or the controller died
  for n in $(sinfo -h -N -t drain -o %N | sort -u); do scontrol update "NodeName=$n" State=RESUME || true; done
  for j in $(squeue -h -r -t PENDING -o '%i|%r' | sed -n 's/|.*held.*//p'); do scontrol release "$j" || true; done ;;
*) sed -n '2,12p' "$0" | sed 's/^# //' >&2; exit 2 ;;
esac
