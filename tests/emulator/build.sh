#!/usr/bin/env bash
# Builds the emulator: a libcuda.so.1 and a libnvrtc.so.13 that run kernels on the CPU, for tests where there is no GPU.
# usage: tests/emulator/build.sh FOLDER
# Then:  LD_LIBRARY_PATH=FOLDER WARPLOOM_NVRTC=FOLDER  before a command; it then finds one device, "Emulated H200 (no GPU)".
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
build() { # NAME SOURCE
  if [ "$folder/$1" -nt "$here/$2" ]; then return; fi
  c++ -std=c++17 -O2 -Wall -shared -fPIC -fvisibility=hidden -DHEADER="\"$here/device.h\"" -o "$folder/$1.$$" "$here/$2" -ldl -lpthread
  mv "$folder/$1.$$" "$folder/$1"
}
build libcuda.so.1 driver.cpp
build libnvrtc.so.13 nvrtc.cpp
