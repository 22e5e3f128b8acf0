#pragma once
// How well times of kernels are forecast on devices and shapes that were left out, beside baselines.

#include <cstdint>
#include <string>
#include <vector>

#include "ai/latency/kernels/kernel_bundle.h"
#include "base/report/table.h"
#include "base/result.h"
#include "base/unknown.h"
#include "studies/kernels/kernel_rows.h"

namespace perfcast::ai::kernels_study {

inline constexpr const char* kOurs = "perfcast";
inline constexpr const char* kFormAlone = "the form alone";
inline constexpr const char* kDonor = "nearest device x ratio of rooflines";
inline constexpr const char* kTwoConstants = "a + roofline / e";
inline constexpr const char* kLookUp = "interpolated logs alone";
inline constexpr const char* kDeviceOut = "a device left out";
inline constexpr const char* kShapeOut = "a shape left out";
inline constexpr const char* kSizeOut = "a size left out";
inline constexpr const char* kMeasured = "measured, from the bundle's coarse grid";

struct KernelScore {
  std::string split, predictor;
  KernelKind kind = KernelKind::kProduct;
  KernelFormat format = KernelFormat::kHalf;
  std::string part;                                       // "all": each device counts once; or a device's name
  int64_t n = 0;                                          // rows
  double mean_error = kUnknown, median_error = kUnknown;  // |forecast / measured - 1|
  double bias = kUnknown;                                 // mean of forecast / measured - 1
  double coverage = kUnknown;                             // of 90% intervals
};

struct KernelEvaluation {
  std::vector<KernelScore> scores;  // "all", then devices
  KernelEntry entry;                // fitted on all devices
};

// One kind and format. Errors of fit_kernel_constants().
Result<KernelEvaluation> evaluate_kernels(const KernelRows& rows);

// Adds what was learned of one kind and format: its entry, and what its devices have on the coarse grid.
void add_to_bundle(const KernelRows& rows, const KernelEntry& entry, KernelBundle& bundle);

ReportTable kernel_scores_table(const std::vector<KernelScore>& scores);

}  // namespace perfcast::ai::kernels_study
