// nvml.cpp: a libnvidia-ml.so.1 for the devices of driver.cpp: a release, and energy that grows by 100 W.
//
// promises  EMULATOR_NVML=none: the library refuses to start
// limits    UUIDs are those of driver.cpp
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define ASKED extern "C" __attribute__((visibility("default")))
enum { SUCCESS = 0, UNINITIALIZED = 1, NOT_FOUND = 6 };
static const char START[] = "GPU-00000000-0000-0000-0000-0000000000";
static int device;

ASKED int nvmlInit_v2() {
  const char* const given = std::getenv("EMULATOR_NVML");
  return given && !std::strcmp(given, "none") ? UNINITIALIZED : SUCCESS;
}
ASKED int nvmlShutdown() { return SUCCESS; }
ASKED int nvmlSystemGetDriverVersion(char* text, unsigned length) { return std::snprintf(text, length, "580.00"), SUCCESS; }
ASKED int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  if (std::strncmp(uuid, START, sizeof START - 1) != 0) return NOT_FOUND;
  return *handle = &device, SUCCESS;
}
ASKED int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return *millijoules = (at.tv_sec * 1000ull + at.tv_nsec / 1000000) * 100, SUCCESS;
}
