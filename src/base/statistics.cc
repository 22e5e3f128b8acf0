#include "base/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <numeric>

#include "base/unknown.h"

namespace perfcast {

double mean(std::span<const double> values) {
  if (values.empty()) return kUnknown;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double quantile(std::vector<double> values, double probability) {
  if (values.empty()) return kUnknown;
  std::sort(values.begin(), values.end());
  const double at = std::clamp(probability, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double median_of_known(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return median(std::move(values));
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return kUnknown;
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double robust_deviation(std::vector<double> values) {
  if (values.empty()) return kUnknown;
  const double centre = median(values);
  for (double& value : values) value = std::abs(value - centre);
  return 1.4826 * median(std::move(values));
}

std::pair<double, double> binomial_interval(int64_t successes, int64_t trials, double confidence) {
  if (trials <= 0) return {0, 1};
  const double tail = (1 - confidence) / 2;
  // Clopper & Pearson (1934): the proportions at which the observed count would be in either tail, by quantiles of the
  // beta distribution.
  const auto hits = static_cast<double>(successes);
  const auto misses = static_cast<double>(trials - successes);
  const double lower = successes == 0 ? 0 : boost::math::ibeta_inv(hits, misses + 1, tail);
  const double upper = successes == trials ? 1 : boost::math::ibeta_inv(hits + 1, misses, 1 - tail);
  return {lower, upper};
}

double student_quantile(double probability, double degrees_of_freedom) {
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), probability);
}

double kendall_tau(std::span<const double> a, std::span<const double> b) {
  double concordance = 0;
  double pairs_a = 0;
  double pairs_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = i + 1; j < a.size(); ++j) {
      const double da = (a[i] > a[j]) - (a[i] < a[j]);
      const double db = (b[i] > b[j]) - (b[i] < b[j]);
      concordance += da * db;
      pairs_a += da * da;
      pairs_b += db * db;
    }
  }
  if (pairs_a == 0 || pairs_b == 0) return kUnknown;
  return concordance / std::sqrt(pairs_a * pairs_b);
}

}  // namespace perfcast
