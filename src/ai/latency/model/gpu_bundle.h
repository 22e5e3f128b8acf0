#pragma once
// The fitted models of GPUs as one JSON document, and the models of any device from it.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ai/latency/model/gpu_models.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

inline constexpr const char* kGpuBundleSchema = "perfcast.gpu-latency/1";
// Assumed where a bundle doesn't say: what a carried-over model errs by beside the error of its fit.
inline constexpr double kAssumedCarriedError = 0.25;

// Standard deviations of log time whose normal 90% interval holds nine in ten: of what was forecast of devices that
// were left out, each in turn, through their kin. Not-a-number: not known, as in bundles made before they were stored.
struct CarriedErrors {
  double linear = kUnknown, batched = kUnknown;  // products with and without weights
  std::array<double, kVectorKinds> vector = {kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};  // by VectorKind
  double whole_model = kUnknown;  // the sum of a model's operators

  double product(bool weights) const { return weights ? linear : batched; }
};

struct GpuBundle {
  std::vector<std::string> card;  // what it is made of, licences, what it is for: one line each
  double flops_per_joule_16nm = 0;
  CarriedErrors carried;          // of a device that was not measured
  CarriedErrors calibrated;       // the same after four of its products of each kind were
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
  CarriedErrors carried, calibrated;        // of the bundle

  // A standard deviation of log time: from the fit where products were measured, else as devices left out came out.
  double product_log_error(bool weights) const;
  double vector_log_error(const VectorShape& shape) const;
};
// The device's own models where it was measured, else those of its nearest kin carried over. "no-kin" where the bundle
// has none, "missing-fact" where a fact of the device that they need isn't known.
Result<DeviceModels> models_of(const GpuBundle& bundle, const DeviceFacts& device);

}  // namespace perfcast::ai
