#!/usr/bin/env bash
# Makes DIR/warploom-VERSION-x86_64.tar.xz, the tree of `make install` for machines that build nothing:
# unpack it anywhere. Programs of the folder STATIC take the place of those of BINARIES. Equal programs
# give equal bytes.
#
#   packaging/dist.sh BINARIES STATIC DIR
set -euo pipefail
export LC_ALL=C
[ $# -eq 3 ] || { sed -n '2,/^set/s/^# \?//p' "$0" >&2; exit 2; }
binaries=$1 static=$2 output=$3
here=$(dirname "$0")
draft=$(mktemp -d)
trap 'rm -rf "$draft"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

mkdir "$draft/programs"
cp "$binaries"/warploom "$binaries"/warploom-{ingest,extract,reorder,partition,plan,run} "$draft/programs"
for program in warploom-{ingest,extract,reorder,partition}; do
  cp "$static/$program" "$draft/programs"
  if readelf -l "$draft/programs/$program" | grep -q INTERP; then
    echo "error: $static/$program is not static" >&2
    echo "hint: build it with  make build-static" >&2
    exit 1
  fi
done
version=$("$draft/programs/warploom" --version | cut -d' ' -f2)
name=warploom-$version-x86_64
"$here/install.sh" "$draft/programs" "$draft/$name" >/dev/null
mkdir -p "$output"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" -C "$draft" -c "$name" |
  xz -T1 -6 >"$output/.$name.$$"
mv -fT "$output/.$name.$$" "$output/$name.tar.xz"
echo "$output/$name.tar.xz"
