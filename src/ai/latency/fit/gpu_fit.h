#pragma once
// Fits the models of one GPU to measured operators. Deterministic: rows beyond a limit are drawn by seed.

#include <cstdint>
#include <span>
#include <string>

#include "ai/latency/model/gpu_models.h"
#include "ai/latency/model/measured_operator.h"
#include "base/result.h"

namespace perfcast::ai {

// A product of which a profiler also told the kernel.
struct ProfiledProduct : MeasuredProduct {
  std::string kernel;
  double tile_m = 0, tile_n = 0;  // 0: not known
  double split_k = 1;
};

struct GpuFitOptions {
  uint64_t seed = 1;
  size_t most_rows = 4000;   // of one kernel
  size_t least_rows = 60;    // a kernel that is seen less often is left out
  double soft_scale = 0.05;  // of log time: beyond it errors count linearly
  double long_weight = 0.2;  // rows weigh as (time / median time)^long_weight
  double pull = 0.0075;      // of log terms towards their usual values, per row; both chosen by large_shape_error()
};

struct LogErrors {
  double mean_absolute = 0;
  double spread = 0;  // the standard deviation whose normal 90% interval holds nine in ten of them
};
// A fit without the large shapes, judged on them: what settings are chosen by, and what intervals are made of. Where
// all rows are of one size they judge themselves.
Result<LogErrors> large_shape_error(std::span<const ProfiledProduct> rows, const DeviceRates& rates,
                                    const GpuFitOptions& options = {});

// `rows` of one device, all with weights or all without. "bad-fit" where no kernel has enough rows.
Result<ProductModel> fit_products(std::span<const ProfiledProduct> rows, const DeviceRates& rates,
                                  const GpuFitOptions& options = {});

// `rows` of one device. Missing operators are an error.
Result<VectorModels> fit_vectors(std::span<const MeasuredVector> rows, const DeviceRates& rates, double clock_hz,
                                 const GpuFitOptions& options = {});

// Shapes that a fit without them is tried on: any size past what training rows mostly have.
bool is_large(const ProductShape& shape);

}  // namespace perfcast::ai
