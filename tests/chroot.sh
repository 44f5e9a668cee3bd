#!/usr/bin/env bash
# Runs programs in folders that hold nothing else (chroot), which shows what they need of a machine:
#
# 1. static programs of the CPU stages, with /proc, /dev/random and /dev/urandom, without any library:
#    the same artifacts, byte by byte, as the dynamic programs write outside
# 2. an installation with the libraries that its programs name, glibc among them: all stages on the CPU,
#    with the same results
#
#   tests/chroot.sh BINARIES STATIC     # folders of dynamic and of static programs; as root
#
# What it makes lies in one temporary folder, which it removes.
set -euo pipefail
export LC_ALL=C
[ $# -eq 2 ] || { sed -n '2,/^set/s/^# \?//p' "$0" >&2; exit 2; }
if [ "$(id -u)" -ne 0 ]; then
  echo "NOTHING RAN: tests/chroot.sh needs root, for chroot and to mount /proc"
  exit 0
fi
binaries=$(cd "$1" && pwd) static=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
work=$(mktemp -d)
roots=("$work/static" "$work/installed")
remove() {
  local root place
  for root in "${roots[@]}"; do
    for place in "$root/proc" "$root/dev/random" "$root/dev/urandom"; do
      if mountpoint -q "$place"; then umount "$place"; fi
    done
  done
  # Never through a mount that could not be undone.
  rm -rf --one-file-system "$work"
}
trap remove EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
fail() { echo "error: $1" >&2; exit 1; }
inside() { # ROOT PROGRAM ARGUMENT...: with an empty environment
  local root=$1
  shift
  env -i "$(command -v chroot)" "$root" "$@" || fail "exit code $? in $root: $*"
}

# Data: a list of edges that is read, without labels, and a data set whose stand-in is generated.
mkdir -p "$work/data/tiny" "$work/data/cora"
cp tests/graphs/tiny.edges.txt "$work/data/tiny"
echo 2026-01-01 >"$work/data/cora/.absent"
sets=(tiny cora)
work_of() { # DATASET: pipeline and settings
  case $1 in tiny) echo pagerank --set dataset=tiny ;; *) echo "gcn --set dataset=$1 --set run.epochs=3" ;; esac
}
limits=(--device cpu --memory 1GiB --threads 2 -q)
for root in "${roots[@]}"; do
  mkdir -p "$root"/{proc,tmp,bin}
  mount --bind /proc "$root/proc"
  cp -r "$work/data" "$root/data"
done

echo "static programs in an empty folder"
cp "$static"/warploom-{ingest,extract,reorder,partition} "${roots[0]}/bin"
cp -r pipelines "${roots[0]}/pipelines"
# Random numbers (of hash tables; no result has any): a static program does not find the system call.
mkdir "${roots[0]}/dev"
for device in /dev/random /dev/urandom; do
  touch "${roots[0]}$device"
  mount --bind "$device" "${roots[0]}$device"
done
for set in "${sets[@]}"; do
  for stage in ingest extract reorder partition; do
    read -ra asked <<<"--set reorder.method=metis --pipeline pipelines/$(work_of "$set" | sed 's/ /.yaml /')"
    inside "${roots[0]}" "/bin/warploom-$stage" "${asked[@]}" "${limits[@]}" --store /store --data /data >/dev/null
    env -i "$binaries/warploom-$stage" "${asked[@]}" "${limits[@]}" --store "$work/store" --data "$work/data" >/dev/null
  done
done
# A manifest has the time, and `seen` the places of raw files.
artifacts() { (cd "$1" && find . -type f ! -name manifest.json ! -path './seen-*' -exec sha256sum {} + | sort -k2); }
artifacts "$work/store" >"$work/dynamic.txt"
artifacts "${roots[0]}/store" >"$work/static.txt"
diff "$work/dynamic.txt" "$work/static.txt" || fail "static and dynamic programs write different artifacts"
echo "  $(wc -l <"$work/static.txt") files are equal to those of the dynamic programs"

echo "an installation with the libraries that it names"
DESTDIR=${roots[1]} packaging/install.sh "$binaries" /opt/warploom >/dev/null
ldd "${roots[1]}"/opt/warploom/bin/* | grep -o '/[^ :]*\.so[^ :]*' | sort -u >"$work/libraries.txt"
while read -r library; do
  mkdir -p "${roots[1]}$(dirname "$library")"
  cp -L "$library" "${roots[1]}$library"
done <"$work/libraries.txt"
echo "  $(tr '\n' ' ' <"$work/libraries.txt")"
for set in "${sets[@]}"; do
  read -ra asked <<<"pipeline $(work_of "$set")"
  inside "${roots[1]}" /opt/warploom/bin/warploom "${asked[@]}" "${limits[@]}" --store /tmp/store --data /data >/dev/null
  env -i "${roots[1]}/opt/warploom/bin/warploom" "${asked[@]}" "${limits[@]}" --store "$work/outside" --data "$work/data" >/dev/null
done
results() { (cd "$1" && find . \( -name predictions.parquet -o -name values.parquet \) -exec sha256sum {} + | sort -k2); }
results "$work/outside" >"$work/outside.txt"
results "${roots[1]}/tmp/store" >"$work/inside.txt"
[ "$(wc -l <"$work/inside.txt")" -eq "${#sets[@]}" ] || fail "not all runs have results"
diff "$work/outside.txt" "$work/inside.txt" || fail "results differ inside of the chroot"
echo "  all stages ran, with the same results as outside"
