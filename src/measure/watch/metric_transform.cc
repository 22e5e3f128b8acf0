#include "measure/watch/metric_transform.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "measure/watch/archive.h"
#include "measure/watch/row_kernels.h"

namespace perfcast::measure {
namespace {

constexpr double kKneeShare = 0.1;    // of the median of |x|
constexpr double kLeastScale = 0.02;  // in y: 2% of the value

double deviation_about(const std::vector<double>& values, double centre) {
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

void MetricTransform::fit(std::span<const double> values, size_t rows, size_t columns) {
  knee_.assign(columns, 1);
  inverse_knee_.assign(columns, 1);
  centre_.assign(columns, 0);
  inverse_scale_.assign(columns, 1);
  for (size_t j = 0; j < columns; ++j) {
    std::vector<double> known;
    std::vector<double> sizes;
    for (size_t r = 0; r < rows; ++r) {
      const double x = values[r * columns + j];
      if (std::isnan(x)) continue;
      known.push_back(x);
      if (x != 0) sizes.push_back(std::abs(x));
    }
    if (known.empty()) continue;
    if (!sizes.empty()) knee_[j] = std::clamp(kKneeShare * median(std::move(sizes)), 1e-30, 1e30);
    inverse_knee_[j] = static_cast<float>(1 / knee_[j]);
    for (double& x : known) x = std::copysign(std::log1p(std::min(std::abs(x) / knee_[j], 1e30)), x);
    const double centre = median(known);
    // Without what is far out: some rows of a warm-up may be faulty.
    const double low = quantile(known, 0.01);
    const double high = quantile(known, 0.99);
    for (double& x : known) x = std::clamp(x, low, high);
    centre_[j] = static_cast<float>(centre);
    inverse_scale_[j] = static_cast<float>(1 / std::max(deviation_about(known, centre), kLeastScale));
  }
}

void MetricTransform::apply(const double* values, float* z) const {
  transform_row(columns(), values, inverse_knee_.data(), centre_.data(), inverse_scale_.data(), z);
}

double MetricTransform::invert(size_t column, double z) const {
  const double y = z / static_cast<double>(inverse_scale_[column]) + static_cast<double>(centre_[column]);
  return std::copysign(knee_[column] * std::expm1(std::min(std::abs(y), 700.0)), y);
}

void MetricTransform::archive(Archive& archive, size_t columns) {
  archive.array(knee_, columns);
  archive.array(inverse_knee_, columns);
  archive.array(centre_, columns);
  archive.array(inverse_scale_, columns);
}

}  // namespace perfcast::measure
