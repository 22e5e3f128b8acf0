#pragma once
// Metrics of any unit to numbers of about unit spread: counters are ratios to people and to models, so a logarithm,
// linear near 0:
//   y = sign(x) log(1 + |x| / knee),  z = (y - centre) / scale
// knee: a tenth of the median of |x| where x isn't 0. Absent values are NaN before and after.

#include <cstddef>
#include <span>
#include <vector>

namespace perfcast::measure {

class Archive;

class MetricTransform {
 public:
  // `rows` x `columns`, row by row; NaN: absent.
  void fit(std::span<const double> values, size_t rows, size_t columns);

  size_t columns() const { return knee_.size(); }
  // One row; z is within +-40.
  void apply(const double* values, float* z) const;
  // The value that would have been `z`.
  double invert(size_t column, double z) const;
  void archive(Archive& archive, size_t columns);

 private:
  std::vector<float> inverse_knee_, centre_, inverse_scale_;
  std::vector<double> knee_;
};

}  // namespace perfcast::measure
