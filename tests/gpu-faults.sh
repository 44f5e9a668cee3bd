#!/usr/bin/env bash
# gpu-faults.sh: provokes on a real GPU what a run may meet there, and looks at exit codes, hints and bits.
# usage: WARPLOOM=PATH [WARPLOOM_NVRTC=FOLDER] tests/gpu-faults.sh
#        EMULATED=1 with the emulator's LD_LIBRARY_PATH and WARPLOOM_NVRTC: the same on the emulated GPU
#
# promises  a line `ok` or `FAIL` for each, `skipped` with a reason for what cannot be provoked here; exit 1 after a FAIL; no more than three
#           minutes; writes below a temporary folder alone, and ends what it started; without a GPU it says that nothing ran
# needs     bash, python3, coreutils; neither cargo nor root
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
warploom=${WARPLOOM:-$here/../target/release/warploom}
emulated=${EMULATED:-}
if [ -z "$emulated" ] && [ ! -e /dev/nvidia0 ]; then
  echo "NOTHING RAN: there is no GPU of NVIDIA here (no /dev/nvidia0)"
  exit 0
fi
for need in "$warploom" python3 timeout cmp; do
  command -v "$need" > /dev/null || { echo "NOTHING RAN: \`$need\` is missing (WARPLOOM=PATH names the program)"; exit 0; }
done
warploom=$(cd "$(dirname "$(command -v "$warploom")")" && pwd)/$(basename "$warploom")
place=$(mktemp -d)
holder=
clean() {
  [ -n "$holder" ] && kill "$holder" 2> /dev/null
  rm -rf "$place"
}
trap clean EXIT
cd "$place" || exit 1
mkdir raw
# No batch job, and no device is hidden, whatever the caller's are.
while IFS='=' read -r name _; do
  case $name in SLURM_* | PBS_* | LSB_*) unset "$name" ;; esac
done < <(env)
unset CUDA_VISIBLE_DEVICES WARPLOOM_STORE WARPLOOM_DATA
failed=0
say() { # ok|FAIL WHAT
  [ "$1" = FAIL ] && failed=$((failed + 1))
  printf '%-7s %s\n' "$1" "$2"
}
skip() { printf 'skipped %s\n' "$1"; }

# go STORE DEVICE [ARGUMENT...]: a training; its output goes to ./out and ./err.
go() {
  local store=$1 device=$2
  shift 2
  timeout -k 5 60 "$warploom" pipeline --pipeline "$here/../pipelines/gcn.yaml" --set dataset=karate --set run.epochs=40 --set plan.set.hidden=4 \
    --real=no --store "$store" --data raw --no-progress --format json --device "$device" "$@" > out 2> err
}
# expect WHAT CODE FOUND [WORD...]: the exit code, and words of ./out or ./err.
expect() {
  local what=$1 code=$2 found=$3 word
  shift 3
  if [ "$found" != "$code" ]; then
    say FAIL "$what: exit $found, expected $code: $(tail -c 400 err | tr '\n' ' ')"
    return 1
  fi
  for word in "$@"; do
    if ! grep -qF -- "$word" out err; then
      say FAIL "$what: \`$word\` is not said: $(tail -c 400 err | tr '\n' ' ')"
      return 1
    fi
  done
  say ok "$what (exit $code)"
}
# predictions: the path of those of the run in ./out.
predictions() {
  python3 - << 'PY'
import json
for line in open("out"):
    line = json.loads(line)
    if line.get("stage") == "run":
        print(next(made["path"] for made in line["artifacts"] if made["kind"] == "run") + "/predictions.parquet")
PY
}
# of_record NAME...: a field of the record of the run in ./out.
of_record() {
  python3 - "$(dirname "$(predictions)")/record.json" "$@" << 'PY'
import json, sys
found = json.load(open(sys.argv[1]))
for name in sys.argv[2:]:
    found = found.get(name, {}) if isinstance(found, dict) else {}
print(found if found != {} else "")
PY
}
same() { # WHAT FILE FILE
  if cmp -s "$2" "$3"; then say ok "$1: the same bits"; else say FAIL "$1: other bits"; fi
}

echo "# $("$warploom" --version 2> /dev/null | head -1) on $(hostname)"

# An undisturbed training, to which others are compared.
go base cuda
expect "an undisturbed training" 0 $? || { cat err; exit 1; }
base=$(predictions)
uuid=$(of_record device uuid)
echo "# $(of_record device model), $uuid, driver $(of_record versions driver), CUDA $(of_record versions cuda), NVRTC $(of_record versions nvrtc)," \
  "$(of_record energy_joules) J"

# Another process holds the memory.
cat > hold.py << 'PY'
# Holds all but so many MiB of the first device's memory until it is ended.
import ctypes, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
def check(result):
    if result: sys.exit("the driver refuses: %d" % result)
check(cuda.cuInit(0))
device, context, free, total, pointer = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_uint64()
check(cuda.cuDeviceGet(ctypes.byref(device), 0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
check(cuda.cuCtxSetCurrent(context))
step, leave = 1 << 30, int(sys.argv[1]) << 20
while step >= 1 << 20:
    check(cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)))
    if free.value < leave + step or cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(step)):
        step >>= 1
print("held", flush=True)
time.sleep(120)
PY
hold() { # MIB
  python3 hold.py "$1" > held 2> held.err &
  holder=$!
  for _ in $(seq 300); do
    grep -q held held && return 0
    kill -0 "$holder" 2> /dev/null || break
    sleep 0.1
  done
  return 1
}
if [ -n "$emulated" ]; then
  EMULATOR_MEMORY=20000 go full cuda
  expect "another process holds the memory" 4 $? "wait until other processes free"
else
  if hold 1; then
    go full cuda
    expect "another process holds all memory" 4 $? "wait until other processes free"
  else
    skip "another process holds all memory: $(tail -1 held.err)"
  fi
  [ -n "$holder" ] && kill "$holder" 2> /dev/null && wait "$holder" 2> /dev/null
  if hold 2500; then
    # About 4.4 GiB: parameters, moments and rows of 60000 columns.
    go full cuda --set dataset=cora --set plan.set.hidden=60000
    expect "another process leaves too little" 4 $? "are free" "wait until other processes free"
  else
    skip "another process leaves too little: $(tail -1 held.err)"
  fi
  [ -n "$holder" ] && kill "$holder" 2> /dev/null && wait "$holder" 2> /dev/null
  holder=
fi
go full cuda
expect "the same device once it is free" 0 $?
same "the same device once it is free" "$base" "$(predictions)"

# No compiler.
WARPLOOM_NVRTC=/nowhere go none cuda
expect "no NVRTC and no kept kernels" 1 $? "no NVRTC" "pip install nvidia-cuda-nvrtc"
go kept cuda --set run.seed=1
expect "kernels are compiled and kept" 0 $?
WARPLOOM_NVRTC=/nowhere go kept cuda
expect "no NVRTC, with kept kernels" 0 $?
same "no NVRTC, with kept kernels" "$base" "$(predictions)"

# Kept kernels that are damaged: compiled again, and replaced.
code=$(find kept -path '*cubin-v*' -name kernels.cubin | head -1)
python3 - "$code" << 'PY'
import sys
held = bytearray(open(sys.argv[1], "rb").read())
held[len(held) // 2] ^= 255
open(sys.argv[1], "wb").write(held)
PY
WARPLOOM_NVRTC=/nowhere go kept cuda --set run.seed=2
expect "no NVRTC, with damaged kernels" 1 $? "damaged"
go kept cuda --set run.seed=3
expect "damaged kernels are compiled again" 0 $?
WARPLOOM_NVRTC=/nowhere go kept cuda --set run.seed=4
expect "and replaced" 0 $?

# Kernels of another architecture.
sed 's/sm_90/sm_80/; s/^name: .*/name: other/' "$here/../kernels/device/facts/h200.yaml" > other.yaml
stages=1
for stage in ingest extract reorder partition plan; do
  binary=$(dirname "$warploom")/warploom-$stage
  [ -x "$binary" ] || { stages=; break; }
  timeout 60 "$binary" --pipeline "$here/../pipelines/gcn.yaml" --set dataset=karate --set run.epochs=40 --set plan.set.hidden=4 --real=no --store other \
    --data raw --no-progress --format json --device other.yaml > out 2> err || { stages=; break; }
done
if [ -n "$stages" ] && find other -path '*cubin-v*' -name kernels.cubin | grep -q .; then
  WARPLOOM_NVRTC=/nowhere go other cuda
  expect "no NVRTC, with kernels of another architecture" 1 $? "no NVRTC"
  go other cuda
  expect "kernels of another architecture are left alone" 0 $?
  same "kernels of another architecture are left alone" "$base" "$(predictions)"
else
  skip "kernels of another architecture: $(tail -c 200 err | tr '\n' ' ')"
fi

# Two runs at once.
some=${emulated:+100}
some=${some:-2000}
two() { # STORE SEED
  (mkdir "two-$2" && cd "two-$2" && ln -s ../raw raw && go "../$1" cuda --set "run.seed=$2" --set "run.epochs=$some" && predictions > which)
}
two alone 1; first=$?
two alone 2; second=$?
mv two-1 alone-1; mv two-2 alone-2
two both 1 & one=$!
two both 2 & other=$!
wait $one; one=$?
wait $other; other=$?
if [ "$first$second$one$other" = 0000 ]; then
  for seed in 1 2; do
    same "two runs at once, seed $seed" "two-$seed/$(cat two-$seed/which)" "alone-$seed/$(cat alone-$seed/which)"
  done
else
  say FAIL "two runs at once: exits $first, $second alone and $one, $other together: $(tail -c 300 two-*/err | tr '\n' ' ')"
fi

# CUDA_VISIBLE_DEVICES.
if [ -n "$emulated" ]; then export EMULATOR_DEVICES=2; fi
CUDA_VISIBLE_DEVICES='' go visible cuda
expect "CUDA_VISIBLE_DEVICES is empty" 1 $? "CUDA_VISIBLE_DEVICES is empty" "unset CUDA_VISIBLE_DEVICES"
CUDA_VISIBLE_DEVICES=99 go visible cuda
expect "CUDA_VISIBLE_DEVICES=99" 1 $? 'CUDA_VISIBLE_DEVICES is `99`'
CUDA_VISIBLE_DEVICES=GPU-ffffffff-ffff-ffff-ffff-ffffffffffff go visible cuda
expect "an unknown UUID" 1 $? 'CUDA_VISIBLE_DEVICES is `GPU-ffff'
CUDA_VISIBLE_DEVICES=0 go visible cuda:1
expect "cuda:1 of one visible device" 1 $? "no device 1" 'CUDA_VISIBLE_DEVICES is `0`' "--device cuda:0"
CUDA_VISIBLE_DEVICES=$uuid go visible cuda
expect "the UUID of the first device" 0 $?
[ "$(of_record device uuid)" = "$uuid" ] && say ok "its record names it" || say FAIL "the record names $(of_record device uuid)"
count=$(python3 -c 'import ctypes
cuda, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
cuda.cuInit(0); cuda.cuDeviceGetCount(ctypes.byref(count)); print(count.value)')
if [ "${count:-1}" -gt 1 ]; then
  SLURM_JOB_ID=1 SLURM_LOCALID=1 go rank cuda
  expect "the second task of a node" 0 $?
  [ "$(of_record device ordinal)" = 1 ] && say ok "it takes the second device" || say FAIL "it takes device $(of_record device ordinal)"
else
  skip "the second task of a node: there is one device"
fi

# Killed in mid-training.
long=${emulated:+400}
long=${long:-5000}
go whole cuda --set run.epochs=$long --set run.checkpoint.every_epochs=20
expect "a long training" 0 $?
whole=$(predictions)
"$warploom" pipeline --pipeline "$here/../pipelines/gcn.yaml" --set dataset=karate --set run.epochs=$long --set plan.set.hidden=4 \
  --set run.checkpoint.every_epochs=20 --real=no --store killed --data raw --no-progress --device cuda > /dev/null 2>&1 &
killed=$!
for _ in $(seq 3000); do
  [ "$(find killed -path '*checkpoint-v*' -name state.safetensors -path '*/step-*' 2> /dev/null | wc -l)" -ge 2 ] && break
  kill -0 "$killed" 2> /dev/null || break
  sleep 0.01
done
kill -9 "$killed" 2> /dev/null
wait "$killed" 2> /dev/null
go killed cuda --set run.epochs=$long --set run.checkpoint.every_epochs=20
expect "after a kill in mid-training" 0 $?
same "after a kill in mid-training" "$whole" "$(predictions)"
[ "$(of_record resumed_at)" -gt 0 ] && say ok "it resumed after epoch $(of_record resumed_at)" || skip "it resumed: the run was over before the kill, or nothing was saved"

[ "$failed" = 0 ] && echo "all ok" || { echo "$failed FAILED"; exit 1; }
