#pragma once
// Devices with the models that were fitted to measurements: fp32 products and vector operators of GPUs, half-precision
// layers; each carried to a device's kin where the device itself was not measured; the roofline of its data sheet where
// nothing else speaks of it.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ai/latency/kernels/kernel_bundle.h"
#include "ai/latency/kernels/kernel_times.h"
#include "ai/latency/model/device_catalogue.h"
#include "ai/latency/model/gpu_bundle.h"
#include "ai/latency/model/half_precision.h"
#include "ai/llm_forecast/device_provider.h"

namespace perfcast::ai {

// What was learned; shared by all devices.
struct LearnedBundles {
  GpuBundle gpu;
  HalfPrecisionBundle half;
  std::shared_ptr<const KernelBundle> kernels = nullptr;  // null: none
};

// One device. "bad-device" where not even a roofline is known. `runs`, `kernels`: what a user measured on it.
Result<std::shared_ptr<const LatencyModel>> learned_model(const DeviceFacts& device, const LearnedBundles& bundles,
                                                          const std::vector<CalibrationRun>& runs = {},
                                                          const std::vector<TimedKernel>& kernels = {});

class LearnedDevices : public DeviceProvider {
 public:
  LearnedDevices(DeviceCatalogue catalogue, LearnedBundles bundles)
      : catalogue_(std::move(catalogue)), bundles_(std::move(bundles)) {}
  Result<std::shared_ptr<const LatencyModel>> find(std::string_view name) const override;
  std::vector<std::string> names() const override;
  Status calibrate(const std::vector<CalibrationRun>& runs) override;
  Status calibrate_kernels(KernelDatabase& database) override;

 private:
  DeviceCatalogue catalogue_;
  LearnedBundles bundles_;
  std::vector<CalibrationRun> runs_;
  std::map<std::string, std::vector<TimedKernel>> kernels_;  // by the device's name
};

}  // namespace perfcast::ai
