#pragma once
// What was learned of kernels: the constants of their forms, what measured devices say beyond these, and how alike
// devices are in it.

#include <array>
#include <string>
#include <vector>

#include "ai/latency/kernels/kernel_form.h"
#include "ai/latency/kernels/kernel_residuals.h"
#include "base/unknown.h"

namespace perfcast::ai {

// Log errors of a form, on devices that weren't fitted: their standard deviation, and their correlation between devices
// of one generation with the same matrix units, of other generations with units of the same class, and of others.
struct KernelSpread {
  double log_sd = kUnknown;
  double same_generation = 0, same_class = 0, other = 0;
  // What an interpolation between measured shapes errs by; of intervals, how many times the stated deviation holds 90%.
  double shape_log_sd = kUnknown;
  double interval_ratio = kUnknown;
};

struct KernelEntry {
  bool known = false;  // fitted
  KernelConstants constants{};
  KernelSpread spread;
};

struct KernelDonor {
  std::string name;              // of the catalogue
  std::string facts_generation;  // as it has it
  KernelDevice device;
  KernelResiduals residuals;
};

struct KernelBundle {
  std::string source, licence, trained;
  std::array<std::array<KernelEntry, kKernelFormats>, kKernelKinds> entries;
  std::vector<KernelDonor> donors;

  const KernelEntry& entry(KernelKind kind, KernelFormat format) const {
    return entries[static_cast<size_t>(kind)][static_cast<size_t>(format)];
  }
  KernelEntry& entry(KernelKind kind, KernelFormat format) {
    return entries[static_cast<size_t>(kind)][static_cast<size_t>(format)];
  }
};

}  // namespace perfcast::ai
