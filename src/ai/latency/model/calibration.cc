#include "ai/latency/model/calibration.h"

#include <cmath>

namespace perfcast::ai {
namespace {

constexpr double kOftenOff = 0.25;    // standard deviation of log time of carried-over models, before a measurement
constexpr double kShapeNoise = 0.15;  // and of a single shape about its kind

}  // namespace

size_t calibrate(GpuModels& models, std::span<const MeasuredProduct> measured) {
  size_t used = 0;
  for (ProductModel* model : {&models.linear, &models.batched}) {
    const bool weights = model == &models.linear;
    double sum = 0, n = 0;
    for (const MeasuredProduct& product : measured) {
      if (product.shape.weights != weights) continue;
      const OperatorTime time = models.product(product.shape);
      sum += std::log(product.seconds / (time.seconds + time.launch_seconds));
      n += 1;
    }
    if (n == 0) continue;
    const double trust = n / (n + kShapeNoise * kShapeNoise / (kOftenOff * kOftenOff));
    model->time_factor *= std::exp(trust * sum / n);
    used += static_cast<size_t>(n);
  }
  return used;
}

}  // namespace perfcast::ai
