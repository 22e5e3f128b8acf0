#pragma once
// Times of kernels on one device. What was measured on it counts, between its shapes too; else the form, on the
// device's facts, moved by what measured devices say beyond it, the more the more they are like it.
//
// With residuals r_i of the donors at a shape, correlated by c_ij among each other and by c_i with the device's own:
// r = c' C^-1 r_donors, with the variance sd^2 (1 - c' C^-1 c) (simple kriging; Cressie, "Statistics for Spatial Data",
// 1993, section 3.2).

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ai/latency/kernels/kernel_bundle.h"
#include "base/unknown.h"
#include "machine/facts/device_facts.h"

namespace perfcast::ai {

struct TimedKernel {
  KernelShape shape;
  double seconds = 0;
};

struct KernelTime {
  double seconds = kUnknown;
  double log_sd = kUnknown;  // of a shape that isn't among the measured ones
  bool measured = false;     // on this device
};

class KernelTimes {
 public:
  // `bundle` may be null: only what was measured is known then. `timed`: the user's own measurements of this device,
  // of kernels that are timed again and again; they go before the bundle's.
  KernelTimes(const DeviceFacts& facts, std::shared_ptr<const KernelBundle> bundle, std::span<const TimedKernel> timed);

  // Of a kernel whose operands lie in memory. None where nothing is known of such kernels.
  std::optional<KernelTime> time(const KernelShape& shape, Operands operands = Operands::kInMemory) const;

  size_t timed() const { return own_.size(); }  // shapes
  bool has_timed(KernelKind kind, KernelFormat format) const { return own_.covers(kind, format); }

 private:
  struct Weights {  // of the bundle's donors, for one kind and format
    std::vector<std::pair<const KernelResiduals*, double>> donors;
    double log_sd = kUnknown;
    bool measured = false;
  };
  double form(const KernelShape& shape, Operands operands) const;
  Weights weigh(KernelKind kind, KernelFormat format, const DeviceFacts& facts) const;

  std::optional<KernelDevice> device_;
  std::shared_ptr<const KernelBundle> bundle_;
  std::array<std::array<KernelConstants, kKernelFormats>, kKernelKinds> constants_;
  std::array<std::array<Weights, kKernelFormats>, kKernelKinds> weights_;
  KernelResiduals own_;
};

// Of the residuals of two devices.
double kernel_correlation(const KernelSpread& spread, const KernelDevice& a, const KernelDevice& b);

struct KrigingWeights {
  std::vector<double> weights;  // of the donors
  double left = 1;              // of the variance
};
KrigingWeights kriging_weights(const KernelSpread& spread, const KernelDevice& device,
                               std::span<const KernelDevice* const> donors);

}  // namespace perfcast::ai
