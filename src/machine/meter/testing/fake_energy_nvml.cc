// A management library for tests: two GPUs. With PERFCAST_HAS_ENERGY_COUNTER the first counts energy, one joule more
// each time that it is asked, and is held back by its power limit; the second never tells anything. Without, the first
// tells its power alone.

#include <cstring>

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int gpus[2] = {0, 1};
  if (index > 1) return 2;
  *device = &gpus[index];
  return 0;
}
int nvmlDeviceGetName(void*, char* name, unsigned room) {
  std::strncpy(name, "Example GPU", room);
  return 0;
}
#ifdef PERFCAST_HAS_ENERGY_COUNTER
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  static unsigned long long counted = 5000;
  if (*static_cast<int*>(device) == 1) return 3;
  counted += 1000;
  *millijoules = counted;
  return 0;
}
#endif
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (*static_cast<int*>(device) == 1) return 3;
  *milliwatts = 71500;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
  *bits = 0x1 | 0x4;  // idle, and the power limit
  return 0;
}
}
