#!/usr/bin/env bash
# A smoke test of the GPU that is here, in eight minutes at most, and one table of it, to be committed as a record: golden models and analytics, one
# epoch of each program of the library (one run on the CPU of those that do not learn), trainings whose bits must repeat, and four epochs timed in pairs
# beside the program of the last record.
# usage: tests/smoke-gpu.sh      SUITE=FILE WARPLOOM=FILE  a test program and a binary that were built elsewhere (no cargo is needed then)
#                                BESIDE=FILE  the binary of the last record: pairs, in turns, in this sitting; without it only ours is timed
#                                RECORD=FOLDER  writes FOLDER/README.md, too (tests/bench/record/DATE-DEVICE-smoke)
#                                TESTS GRAPH EPOCHS PAIRS REPEAT  less of it
#                                EMULATED=FOLDER  on the emulator that tests/emulator/build.sh put there: tries this script, and measures nothing
# Exits with 1 when something failed or there was no time for it; the table says what. Without a GPU nothing runs, and this says so.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${EMULATED:-}" ]; then
  export LD_LIBRARY_PATH=$EMULATED WARPLOOM_NVRTC=$EMULATED EMULATOR_CACHE=$EMULATED/kernels
elif [ ! -e /dev/nvidia0 ]; then
  echo "NOTHING RAN: there is no GPU of NVIDIA here (no /dev/nvidia0). What is emitted for GPUs is compiled and tested by  make test"
  exit 0
fi
if [ -z "${SUITE:-}" ]; then
  SUITE=$(cargo test -p warploom-run --test suite --no-run --message-format=short 2>&1 | sed -n 's/.*(\(.*suite-[0-9a-f]*\)).*/\1/p')
fi
WARPLOOM=${WARPLOOM:-target/release/warploom}
[ -x "$SUITE" ] && [ -x "$WARPLOOM" ] || { echo "expected the programs \`$SUITE\` and \`$WARPLOOM\`; build them with  make build"; exit 1; }
SECONDS=0
status=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Stand-ins, which are the same everywhere: no network is asked.
graph=${GRAPH:-amazon0505}
for name in karate cora pubmed "$graph"; do
  mkdir -p "$folder/raw/$name"
  printf '2026-01-01\nno network in tests\n' >"$folder/raw/$name/.absent"
done

# Runs a command as long as the eight minutes last.
within() {
  local left=$((480 - SECONDS))
  [ "$left" -gt 0 ] || { echo "no time was left: eight minutes are over" >&2; return 124; }
  timeout "$left" "$@"
}
table=$folder/table
row() { echo "| $1 | $2 |" | tee -a "$table"; }
failed() { row "$1" "**FAILED**: $2"; status=1; }
said() { grep -m 1 -E '^error|no time was left' "$1" || tail -n 1 "$1"; }
# Folder of the run that a pipeline of a program makes: PROGRAM OF_PROGRAM STORE ARGUMENTS...
run_of() {
  local binary=$1 name=$2 store=$3
  shift 3
  within "$binary" pipeline "pipelines/$name.yaml" --store "$store" --data "$folder/raw" --format json "$@" >"$folder/lines" 2>"$folder/said" || return $?
  grep -o "\"$store/run-v[^\"]*\"" "$folder/lines" | tail -n 1 | tr -d '"'
}
# A number or word of a record.
told() { sed -n "s/^ *\"$2\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$1/record.json" | head -n 1; }

echo "| what | result |" | tee "$table"
echo "|---|---|" | tee -a "$table"

# Tests of the suite by name: WHAT TESTS...
golden() {
  local what=$1 begun=$SECONDS result
  shift
  within "$SUITE" "$@" --test-threads "${THREADS:-8}" >"$folder/suite" 2>&1 || true
  result=$(sed -n 's/^test result: [A-Za-z]*\. \([0-9]* passed; [0-9]* failed\);.*/\1/p' "$folder/suite" | tail -n 1)
  case $result in
    "0 passed"* | "") failed "$what" "${result:-they did not end}: $(said "$folder/suite")" ;;
    *" 0 failed") row "$what" "$result, $((SECONDS - begun)) s" ;;
    *) failed "$what" "$result: $(sed -n 's/^    \([a-z_]*::.*\)/\1/p' "$folder/suite" | sort -u | tr '\n' ' ')" ;;
  esac
}
# shellcheck disable=SC2086
WARPLOOM_TEST_GPU=1 WARPLOOM_TEST_BRIEF=1 golden "golden models on the GPU" ${TESTS:-golden_lists:: golden::}
# No GPU is seen, emulated or not: `auto` is the CPU then.
CUDA_VISIBLE_DEVICES='' LD_LIBRARY_PATH='' golden "golden analytics on the CPU" analytics::

begun=$SECONDS trained=0 iterated=0
for file in pipelines/*.yaml; do
  name=$(basename "$file" .yaml)
  if grep -q 'mode: train' "$file"; then device=cuda epochs=(--set run.epochs=1); else device=cpu epochs=(); fi
  if run=$(run_of "$WARPLOOM" "$name" "$folder/store" --device "$device" --set dataset=karate ${epochs[@]+"${epochs[@]}"}); then
    if [ "$device" = cuda ]; then trained=$((trained + 1)); else iterated=$((iterated + 1)); fi
  else
    failed "one epoch of $name" "$(said "$folder/said")"
  fi
done
row "one epoch of each program of the library" "$trained that learn, on the GPU; $iterated that do not, on the CPU; $((SECONDS - begun)) s"

begun=$SECONDS
for name in gcn gat; do
  for number in $(seq "${REPEAT:-5}"); do
    run=$(run_of "$WARPLOOM" "$name" "$folder/bits-$name" --device cuda --set dataset="${BITS:-pubmed}" --set run.epochs="${EPOCHS:-60}" --force) ||
      { failed "bits of $name" "run $number: $(said "$folder/said")"; continue 2; }
    cat "$run/parameters.safetensors" "$run/predictions.parquet" | sha256sum
  done >"$folder/bits"
  count=$(sort -u "$folder/bits" | wc -l)
  if [ "$count" = 1 ]; then
    row "bits of $name with dropout, ${REPEAT:-5} times" "the same: $(head -c 16 "$folder/bits")"
  else
    failed "bits of $name with dropout, ${REPEAT:-5} times" "$count different results"
  fi
done

last=$(ls -d tests/bench/record/*-smoke/ 2>/dev/null | tail -n 1 || true)
median() { sort -g | awk '{ all[NR] = $1 } END { if (NR) print NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2 }'; }
for name in gcn gin gat sage; do
  drop=(--set plan.set.drop=0.0)
  [ "$name" != gat ] || drop+=(--set plan.set.drop_shares=0.0 --set run.keep=last)
  [ "$name" != sage ] || drop+=(--set plan.set.hidden=64)
  : >"$folder/pairs"
  for number in $(seq "${PAIRS:-5}"); do
    # Who is first takes turns; the seed makes each a run of its own.
    order="ours beside"
    [ $((number % 2)) = 1 ] || order="beside ours"
    ours='' beside=-
    for who in $order; do
      binary=$WARPLOOM
      [ "$who" = ours ] || binary=${BESIDE:-}
      [ -n "$binary" ] || continue
      run=$(run_of "$binary" "$name" "$folder/$who" --device cuda --set dataset="$graph" --set run.epochs="${EPOCHS:-300}" --set run.seed="$number" "${drop[@]}") ||
        { failed "an epoch of $name" "$who, run $number: $(said "$folder/said")"; continue 3; }
      declare "$who=$(told "$run" seconds_step)"
    done
    echo "$ours $beside" >>"$folder/pairs"
  done
  ours=$(awk '{ print $1 * 1e3 }' "$folder/pairs" | median)
  what="an epoch of $name on $graph, median of ${PAIRS:-5}"
  then=$([ -z "$last" ] || sed -n "s/^| an epoch of $name on $graph.* | \([0-9.]*\) ms.*/\1/p" "$last/README.md" | head -n 1)
  if [ -n "${BESIDE:-}" ]; then
    beside=$(awk '{ print $2 * 1e3 }' "$folder/pairs" | median)
    ratio=$(awk '{ print $1 / $2 }' "$folder/pairs" | median)
    spread=$(awk '{ r = $1 / $2; if (NR == 1 || r < least) least = r; if (r > most) most = r } END { printf "%.3f to %.3f", least, most }' "$folder/pairs")
    paired=$(printf '%.4f ms of the last record, times that %.3f (pairs %s)' "$beside" "$ratio" "$spread")
  else
    paired="no program of the last record was given (BESIDE)"
  fi
  row "$what" "$(printf '%.4f ms' "$ours"); $paired; $(if [ -n "$then" ]; then echo "$then ms written in ${last#tests/bench/record/}"; else echo "no record of a smoke test before"; fi)"
done
row "all of it" "$SECONDS s of 480"

if [ -n "${RECORD:-}" ]; then
  mkdir -p "$RECORD"
  {
    echo "# $(date +%F), smoke test: $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -n 1 || echo "emulated GPU")"
    echo
    echo "By \`tests/smoke-gpu.sh\`. $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores. Program $(sha256sum "$WARPLOOM" | cut -c1-16)${BESIDE:+, that of the last record $(sha256sum "$BESIDE" | cut -c1-16)}. Graphs are stand-ins."
    echo
    cat "$table"
  } >"$RECORD/README.md"
fi
exit "$status"
