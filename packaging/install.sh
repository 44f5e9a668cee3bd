#!/usr/bin/env bash
# Installs Warploom into a folder: programs, pipelines, catalogue, documents, manual pages, completions.
#
#   packaging/install.sh BINARIES PREFIX     # BINARIES: the folder of the seven programs
#
# DESTDIR is put before PREFIX, for packages; no file contains either, so that the folder may be moved.
# Each file gets its name by a rename: a reader sees the old file or the whole new one, and a running
# program keeps the file that it was started from. share/warploom/manifest.txt lists what
# packaging/uninstall.sh removes; an installation removes files of the one before that it lacks.
set -euo pipefail
export LC_ALL=C
umask 022
fail() { printf 'error: %s\nhint: %s\n' "$1" "$2" >&2; exit 2; }

manifest=share/warploom/manifest.txt
source=$(cd "$(dirname "$0")/.." && pwd)
# A stage is a folder of stages/ that has a program; that of `pipeline` is `warploom`.
programs=(warploom)
for main in "$source"/stages/*/src/main.rs; do
  stage=$(basename "${main%/src/main.rs}")
  [ "$stage" = pipeline ] || programs+=("warploom-$stage")
done
[ $# -eq 2 ] && [ -n "$2" ] || fail "no folder to install into was given" 'make install PREFIX=$HOME/.local'
case $2 in /*) ;; *) fail "PREFIX is not an absolute path: $2" "make install PREFIX=$PWD/$2" ;; esac
binaries=$1
root=${DESTDIR:-}$2
for program in "${programs[@]}"; do
  [ -x "$binaries/$program" ] ||
    fail "there is no program $binaries/$program" "build them with  make build , or name their folder with  BINARIES=DIR"
done

# Makes a folder below the root, and notes each one that was not there.
folders=()
make_folder() {
  local path=$1
  [ ! -d "$root/$path" ] || return 0
  [ "$path" = . ] || make_folder "$(dirname "$path")"
  mkdir -p "$root/$path"
  folders+=("$path/")
}
make_folder .
draft=$(mktemp -d "$root/.warploom-install.XXXXXX")
trap 'rm -rf "$draft"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The whole tree is made beside its place.
copy() { # MODE FOLDER FILE...
  local mode=$1 folder=$2
  shift 2
  mkdir -p "$draft/$folder"
  install -m "$mode" "$@" "$draft/$folder"
}
for program in "${programs[@]}"; do
  copy 755 bin "$binaries/$program"
done
if command -v strip >/dev/null; then
  (cd "$draft/bin" && strip "${programs[@]}")
else
  echo "NOT STRIPPED: there is no strip (package binutils)" >&2
fi
cd "$source"
copy 644 share/warploom/pipelines pipelines/*.yaml pipelines/schema.json
copy 644 share/warploom/pipelines/programs pipelines/programs/*.py
if [ -d pipelines/sites ]; then
  copy 644 share/warploom/pipelines/sites pipelines/sites/*.yaml
fi
copy 644 share/warploom/data/catalog data/catalog/*.yaml
copy 644 share/doc/warploom README.md CHANGELOG.md LICENSE LICENSE-APACHE LICENSE-MIT docs/*.md
warploom() { "$draft/bin/warploom" "$@"; }
warploom man -o "$draft/share/man/man1"
warploom completions bash -o "$draft/share/bash-completion/completions"
warploom completions zsh -o "$draft/share/zsh/site-functions"
warploom completions fish -o "$draft/share/fish/vendor_completions.d"

files=$(cd "$draft" && find . -type f | sed 's|^\./||' | sort)
before=$(cat "$root/$manifest" 2>/dev/null || true)
for folder in $(cd "$draft" && find . -type d | sed 's|^\./||' | sort); do
  make_folder "$folder"
done
# Folders that an earlier installation made are still ours to remove.
ours=$( (printf '%s\n' "${folders[@]:-}"; grep '/$' <<<"$before" || true) | sort -u | grep . || true)
write_manifest() {
  sort -u | grep . >"$draft/manifest"
  chmod 644 "$draft/manifest"
  mv -fT "$draft/manifest" "$root/$manifest"
}
# An installation that is interrupted can be removed, or finished by another one.
printf '%s\n' "$ours" "$files" "$before" "$manifest" | write_manifest
# The program that starts everything comes last.
(grep -v '^bin/' <<<"$files"; grep '^bin/warploom-' <<<"$files"; echo bin/warploom) | while read -r file; do
  mv -fT "$draft/$file" "$root/$file"
done
comm -23 <(grep -v '/$' <<<"$before" | sort) <(printf '%s\n' "$files" "$manifest" | sort) | while read -r file; do
  case $file in '' | /* | *..*) ;; *) rm -f "$root/$file" ;; esac
done
printf '%s\n' "$ours" "$files" "$manifest" | write_manifest
echo "installed $("$root/bin/warploom" --version) into $root"
