#pragma once
// The fitted models of GPUs as one JSON document, and the models of any device from it.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/latency/model/gpu_models.h"

namespace perfcast {

inline constexpr const char* kGpuBundleSchema = "perfcast.gpu-latency/1";

struct GpuBundle {
  std::vector<std::string> card;  // what it is made of, licences, what it is for: one line each
  double flops_per_joule_16nm = 0;
  std::vector<GpuModels> fitted;  // some with vector operators alone
};

std::string gpu_bundle_text(const GpuBundle& bundle);
// From outside: every number in the range of its term, trees without circles. "bad-gpu-bundle", "bad-json".
Result<GpuBundle> parse_gpu_bundle(std::string_view text, const std::string& source);

// What stands behind the models of a device.
struct DeviceModels {
  GpuModels models;
  bool products_measured = false, vectors_measured = false;
  std::string products_from, vectors_from;  // the devices that were measured
};
// The device's own models where it was measured, else those of its nearest kin carried over. "no-kin" where the bundle
// has none, "missing-fact" where a fact of the device that they need isn't known.
Result<DeviceModels> models_of(const GpuBundle& bundle, const DeviceFacts& device);

}  // namespace perfcast
