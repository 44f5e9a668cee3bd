#!/usr/bin/env bash
# Prints for each program the oldest glibc that it runs with: the highest version among its symbols, or
# `static`. With `--most VERSION` it exits with 1 where a program needs a newer one.
#
#   tests/glibc-floor.sh [--most 2.34] PROGRAM...
set -euo pipefail
export LC_ALL=C
most=
if [ "${1:-}" = --most ]; then
  most=$2
  shift 2
fi
[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \?//p' "$0" >&2; exit 2; }
status=0
for program in "$@"; do
  # Weak symbols count: whether their versions may be absent depends on the linker.
  symbols=$(objdump -T "$program" 2>/dev/null || true)
  headers=$(readelf -lW "$program")
  if ! grep -q INTERP <<<"$headers"; then
    echo "static $program"
    continue
  fi
  floor=$(grep -o 'GLIBC_[0-9.]*' <<<"$symbols" | sed 's/GLIBC_//' | sort -Vu | tail -1)
  [ -n "$floor" ] || { echo "error: $program names no version of glibc" >&2; exit 1; }
  echo "$floor $program"
  if [ -n "$most" ] && [ "$(printf '%s\n' "$most" "$floor" | sort -V | tail -1)" != "$most" ]; then
    echo "error: $program needs glibc $floor, and $most is the newest that may be needed" >&2
    status=1
  fi
done
exit "$status"
