#!/usr/bin/env bash
# Removes what packaging/install.sh wrote: the files of its manifest, and the folders that it made where
# they are empty. Nothing else is touched.
#
#   packaging/uninstall.sh PREFIX     # with DESTDIR as at the installation
set -euo pipefail
export LC_ALL=C
fail() { printf 'error: %s\nhint: %s\n' "$1" "$2" >&2; exit 2; }

[ $# -eq 1 ] && [ -n "$1" ] || fail "no folder was given" 'make uninstall PREFIX=$HOME/.local'
root=${DESTDIR:-}$1
manifest=$root/share/warploom/manifest.txt
[ -f "$manifest" ] || fail "Warploom is not installed in $root: there is no $manifest" "name the PREFIX of the installation"
lines=$(cat "$manifest")
if grep -qE '^/|(^|/)\.\.(/|$)' <<<"$lines"; then
  fail "$manifest names files outside of $root" "remove the files of the installation by hand"
fi
grep -v '/$' <<<"$lines" | while read -r file; do
  rm -f "$root/$file"
done
# The longest path first: a folder is removed before the one that it is in.
(grep '/$' <<<"$lines" || true) | sort -r | while read -r folder; do
  if [ -d "$root/$folder" ]; then
    rmdir --ignore-fail-on-non-empty "$root/${folder#./}"
  fi
done
echo "removed from $root"
