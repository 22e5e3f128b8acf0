// A management library for tests: one GPU, whose driver tells all but its power limit.

#include <cstring>

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int gpu = 0;
  *device = &gpu;
  return index == 0 ? 0 : 2;
}
int nvmlDeviceGetName(void*, char* name, unsigned room) {
  std::strncpy(name, "Example GPU", room);
  return 0;
}
int nvmlSystemGetDriverVersion(char* version, unsigned room) {
  std::strncpy(version, "580.1", room);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* memory) {
  memory[0] = 85899345920;
  memory[1] = memory[2] = memory[0] / 2;
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int clock, unsigned* mhz) {
  *mhz = clock == 1 ? 1410 : 1;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, int clock, unsigned* mhz) {
  *mhz = clock == 1 ? 1980 : 1;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 71500;
  return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned*) { return 3; }  // not supported
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* degrees) {
  *degrees = sensor == 0 ? 42 : 0;
  return 0;
}
}
