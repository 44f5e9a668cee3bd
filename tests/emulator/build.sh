#!/usr/bin/env bash
# Builds the emulator: a libcuda.so.1, a libnvidia-ml.so.1 and a libnvrtc.so.13 that run kernels on the CPU, for tests where there is no GPU.
# usage: tests/emulator/build.sh FOLDER
# Then:  LD_LIBRARY_PATH=FOLDER WARPLOOM_NVRTC=FOLDER  before a command; it then finds one device, "Emulated H200 (no GPU)".
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
# The header that each kernel includes, parsed once: a third of what a small kernel takes. The options are those of nvrtc.cpp; a compiler that cannot
# use what comes of it reads the header again.
if [ ! "$folder/device.h.gch" -nt "$here/device.h" ]; then
  cp "$here/device.h" "$folder/device.h.$$"
  mv "$folder/device.h.$$" "$folder/device.h"
  c++ -std=c++17 -O1 -w -fPIC -fno-strict-aliasing -x c++-header -o "$folder/device.h.gch.$$" "$folder/device.h"
  mv "$folder/device.h.gch.$$" "$folder/device.h.gch"
fi
build() { # NAME SOURCE HEADER
  if [ "$folder/$1" -nt "$here/$2" ]; then return; fi
  c++ -std=c++17 -O2 -Wall -shared -fPIC -fvisibility=hidden -DHEADER="\"$3\"" -o "$folder/$1.$$" "$here/$2" -ldl -lpthread
  mv "$folder/$1.$$" "$folder/$1"
}
build libcuda.so.1 driver.cpp "$here/device.h"
build libnvidia-ml.so.1 nvml.cpp ""
build libnvrtc.so.13 nvrtc.cpp "$folder/device.h"
