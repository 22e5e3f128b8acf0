#include "ai/latency/model/product_model.h"

#include <algorithm>
#include <cmath>

namespace perfcast::ai {

double product_bound_s(const ProductShape& shape, const DeviceRates& rates) {
  const double flops = 2 * shape.batch * shape.m * shape.k * shape.n;
  const double bytes = 4 * shape.batch * (shape.m * shape.k + shape.k * shape.n + shape.m * shape.n);
  return std::max(flops / rates.peak_flops, bytes / rates.memory_bytes_per_s);
}

OperatorTime ProductModel::time(const ProductShape& shape, const DeviceRates& rates, double sustained) const {
  OperatorTime out;
  double log_seconds = 0;
  TileTime most;
  double most_probability = 0;
  for (const ClassShare& share : choice.of(choice_features(shape, rates.units))) {
    const KernelClass& kind = classes[static_cast<size_t>(share.class_index)];
    const TileKernel* kernel = &kernels[static_cast<size_t>(kind.kernel)];
    TileKernel limited;
    if (sustained < 1) {
      // Power holds the clock down: that is the limit then, and the kernel's own throttling is part of it.
      limited = *kernel;
      limited[TileTerm::kEfficiency] = std::min(limited[TileTerm::kEfficiency], sustained);
      limited[TileTerm::kThrottle] = 0;
      kernel = &limited;
    }
    const TileTime time = tile_time(*kernel, rates, shape, kind.split_k);
    log_seconds += share.probability * std::log(time.seconds);
    out.launch_seconds += share.probability * (*kernel)[TileTerm::kLaunch];
    if (share.probability > most_probability) {
      most_probability = share.probability;
      most = time;
    }
  }
  out.seconds = std::max(time_factor * std::exp(log_seconds), product_bound_s(shape, rates));
  out.bound = most.compute_s >= std::max(most.cache_s, most.memory_s) ? Bound::kCompute
              : most.cache_s > most.memory_s                          ? Bound::kCache
                                                                      : Bound::kMemory;
  return out;
}

}  // namespace perfcast::ai
