#pragma once
// The CUDA device as the rungs see it: whether there is one, memory on it, and its own clock.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace perfcast::ai::gemm::cuda {

// Why no kernel can run here, as far as it is known without starting the driver: "CUDA driver is missing: ...". Empty
// where the driver's library is there.
std::string missing_driver();

struct Device {
  std::string title;   // "NVIDIA H100 PCIe, compute capability 9.0, 114 multiprocessors"
  int capability = 0;  // 90 for 9.0
  int multiprocessors = 0;
};
// The first device of this process. Error "unavailable": no driver, no device, or none that this build has code for.
Result<Device> open_device();

// What a launch by a library that has codes of its own gives instead.
extern const int kLaunchFailed;

// `code`: what a CUDA call returned. Out of memory is environment_error("unavailable"), anything else "device-failed".
Status checked(int code, const std::string& what);

// Memory on the device, freed with its owner.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  Status allocate(size_t bytes);  // zeroed
  Status upload(const void* from, size_t bytes);
  Status download(void* to, size_t bytes) const;
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

// Seconds between two events around `calls` launches, on the device's clock. `launch` returns CUDA's error code.
Result<double> time_launches(int64_t calls, const std::function<int()>& launch);

}  // namespace perfcast::ai::gemm::cuda
