#include "ai/gemm/cuda/device.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

namespace perfcast::ai::gemm::cuda {
namespace {

class Event {
 public:
  Event() : code_(cudaEventCreate(&event_)) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (code_ == cudaSuccess) cudaEventDestroy(event_);
  }
  int code() const { return code_; }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
  cudaError_t code_;
};

}  // namespace

const int kLaunchFailed = cudaErrorLaunchFailure;

std::string missing_driver() {
  static const std::string kReason = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver != nullptr) {
      dlclose(driver);
      return std::string();
    }
    const char* problem = dlerror();
    return std::string("CUDA driver is missing: ") + (problem == nullptr ? "libcuda.so.1" : problem);
  }();
  return kReason;
}

Result<Device> open_device() {
  if (const std::string reason = missing_driver(); !reason.empty())
    return environment_error("unavailable", reason, "", "");
  cudaDeviceProp properties = {};
  cudaError_t code = cudaGetDeviceProperties(&properties, 0);
  if (code == cudaSuccess) code = cudaSetDevice(0);
  if (code != cudaSuccess) {
    return environment_error("unavailable", std::string("CUDA finds no usable GPU: ") + cudaGetErrorString(code), "",
                             "");
  }
  Device device;
  device.title = fmt::format("{}, compute capability {}.{}, {} multiprocessors", properties.name, properties.major,
                             properties.minor, properties.multiProcessorCount);
  device.capability = properties.major * 10 + properties.minor;
  device.multiprocessors = properties.multiProcessorCount;
  return device;
}

Status checked(int code, const std::string& what) {
  if (code == cudaSuccess) return {};
  const std::string message = what + ": " + cudaGetErrorString(static_cast<cudaError_t>(code));
  const bool cannot = code == cudaErrorMemoryAllocation || code == cudaErrorNoKernelImageForDevice;
  return cannot ? environment_error("unavailable", message, "", "") : Error{"device-failed", message, "", ""};
}

DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) cudaFree(data_);
}

Status DeviceMemory::allocate(size_t bytes) {
  if (Status got = checked(cudaMalloc(&data_, bytes), "memory of the GPU"); !got) {
    data_ = nullptr;
    return got;
  }
  return checked(cudaMemset(data_, 0, bytes), "memory of the GPU");
}

Status DeviceMemory::upload(const void* from, size_t bytes) {
  return checked(cudaMemcpy(data_, from, bytes, cudaMemcpyHostToDevice), "copy to the GPU");
}

Status DeviceMemory::download(void* to, size_t bytes) const {
  return checked(cudaMemcpy(to, data_, bytes, cudaMemcpyDeviceToHost), "copy from the GPU");
}

Result<double> time_launches(int64_t calls, const std::function<int()>& launch) {
  const Event start, stop;
  for (const int code : {start.code(), stop.code(), static_cast<int>(cudaEventRecord(start.get()))}) {
    if (const Status ready = checked(code, "events"); !ready) return ready.error();
  }
  for (int64_t call = 0; call < calls; ++call) {
    if (const Status taken = checked(launch(), "launch"); !taken) return taken.error();
  }
  float milliseconds = 0;
  int code = cudaEventRecord(stop.get());
  if (code == cudaSuccess) code = cudaEventSynchronize(stop.get());
  if (code == cudaSuccess) code = cudaEventElapsedTime(&milliseconds, start.get(), stop.get());
  if (const Status ran = checked(code, "kernel"); !ran) return ran.error();
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace perfcast::ai::gemm::cuda
