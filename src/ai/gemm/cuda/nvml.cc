#include "ai/gemm/cuda/nvml.h"

#include "base/loaded_library.h"

namespace perfcast::ai::gemm {
namespace {

// As in NVIDIA's NVML API Reference; 0 is success everywhere.
using Device = void*;
struct Memory {
  unsigned long long total, free, used;
};
constexpr int kMultiprocessorClock = 1;  // NVML_CLOCK_SM, in MHz
constexpr int kTemperatureOfGpu = 0;     // NVML_TEMPERATURE_GPU
constexpr unsigned kRoom = 96;           // for names and versions

}  // namespace

Result<GpuFacts> read_gpu_facts(const std::string& library) {
  const LoadedLibrary nvml(library);
  if (!nvml) return environment_error("unavailable", "NVML is missing: " + nvml.problem(), library, "NVIDIA's driver");
  if (!nvml.call("nvmlInit_v2"))
    return environment_error("unavailable", "NVML does not start", library, "a loaded driver");
  GpuFacts facts;
  Device device = nullptr;
  const bool found = nvml.call("nvmlDeviceGetHandleByIndex_v2", 0U, &device);
  if (found) {
    char text[kRoom] = {};
    if (nvml.call("nvmlDeviceGetName", device, &text[0], kRoom - 1)) facts.name = text;
    if (nvml.call("nvmlSystemGetDriverVersion", &text[0], kRoom - 1)) facts.driver = text;
    Memory memory = {};
    if (nvml.call("nvmlDeviceGetMemoryInfo", device, &memory)) facts.memory_bytes = static_cast<double>(memory.total);
    unsigned value = 0;
    if (nvml.call("nvmlDeviceGetClockInfo", device, kMultiprocessorClock, &value)) facts.clock_hz = value * 1e6;
    if (nvml.call("nvmlDeviceGetMaxClockInfo", device, kMultiprocessorClock, &value)) {
      facts.clock_limit_hz = value * 1e6;
    }
    if (nvml.call("nvmlDeviceGetPowerUsage", device, &value)) facts.power_w = value * 1e-3;
    if (nvml.call("nvmlDeviceGetEnforcedPowerLimit", device, &value)) facts.power_limit_w = value * 1e-3;
    if (nvml.call("nvmlDeviceGetTemperature", device, kTemperatureOfGpu, &value)) facts.temperature_c = value;
  }
  nvml.call("nvmlShutdown");
  if (!found) return environment_error("unavailable", "NVML finds no GPU", library, "an NVIDIA GPU");
  return facts;
}

}  // namespace perfcast::ai::gemm
