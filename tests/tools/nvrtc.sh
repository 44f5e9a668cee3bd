#!/usr/bin/env bash
# Puts NVRTC, NVIDIA's compiler of CUDA C++, into a folder, from its package on PyPI: no GPU, no toolkit, no root.
# usage: tests/tools/nvrtc.sh [FOLDER]     default: target/nvrtc
#   NVRTC_WHEEL=FILE      take this package instead of downloading one
# Leaves FOLDER/lib with the library and its builtins (147 MB), the licence, and FOLDER/VERSION; then  export WARPLOOM_NVRTC=FOLDER.
# Does nothing when that is there. On failure says why in one line on stderr, exits with 1, and leaves no half-made folder.
set -euo pipefail
version=13.5.37
package=nvidia-cuda-nvrtc
# Of the package for x86_64; those of other processors are taken as they come.
digest=86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc
folder=${1:-target/nvrtc}

if [ "$(cat "$folder/VERSION" 2>/dev/null)" = "$version" ] && [ -e "$folder/lib/libnvrtc.so.13" ]; then
  exit 0
fi
fail() {
  echo "no NVRTC: $1" >&2
  exit 1
}
command -v python3 >/dev/null || fail "there is no python3"
mkdir -p "$(dirname "$folder")" || fail "no folder beside $folder"
part="$folder.part-$$"
trap 'rm -rf "$part"' EXIT
mkdir -p "$part"
wheel=${NVRTC_WHEEL:-}
if [ -z "$wheel" ]; then
  log=$(python3 -m pip download --quiet --disable-pip-version-check --retries 1 --timeout 20 --no-deps --only-binary=:all: \
    --dest "$part" "$package==$version" 2>&1) || fail "pip cannot get $package $version: $(tail -n 1 <<<"$log")"
  wheel=$(ls "$part"/*.whl)
fi
[ -r "$wheel" ] || fail "$wheel does not read"
if [ "$(uname -m)" = x86_64 ]; then
  found=$(sha256sum <"$wheel" | cut -d ' ' -f 1)
  [ "$found" = "$digest" ] || fail "$wheel: expected SHA-256 $digest, found $found"
fi
python3 -m zipfile -e "$wheel" "$part/wheel" 2>/dev/null || fail "$wheel does not unpack"
mkdir "$part/whole"
mv "$part"/wheel/nvidia/*/lib "$part/whole/lib" 2>/dev/null || fail "$wheel holds no library"
cp "$part"/wheel/*.dist-info/licenses/* "$part/whole/" 2>/dev/null || true
echo "$version" >"$part/whole/VERSION"
# The first of two that do this at a time wins; an older version goes.
if [ "$(cat "$folder/VERSION" 2>/dev/null)" != "$version" ]; then
  rm -rf "$folder"
  mv -T "$part/whole" "$folder" 2>/dev/null || true
fi
[ -e "$folder/lib/libnvrtc.so.13" ] || fail "$folder was not written"
