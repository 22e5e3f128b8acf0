#pragma once
// Statistics used in more than one component. All take values by copy or view and never read beyond them.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace perfcast {

// 95% quantile of the standard normal: half an interval that holds 90%, in standard deviations.
inline constexpr double kNormal95 = 1.6448536269514722;

double mean(std::span<const double> values);                      // NaN when empty
double median(std::vector<double> values);                        // NaN when empty
double median_of_known(std::vector<double> values);               // of those that aren't NaN
double quantile(std::vector<double> values, double probability);  // linear interpolation (Hyndman & Fan type 7)
double standard_deviation(std::span<const double> values);        // n - 1; NaN below two values
// 1.4826 x median absolute deviation about the median: a robust standard deviation.
double robust_deviation(std::vector<double> values);

// Exact (Clopper-Pearson) two-sided interval of a binomial proportion; confidence in (0, 1).
std::pair<double, double> binomial_interval(int64_t successes, int64_t trials, double confidence);

// Quantile of Student's t; probability in (0, 1), degrees of freedom > 0.
double student_quantile(double probability, double degrees_of_freedom);

// Kendall's tau-b; NaN where one side is constant.
double kendall_tau(std::span<const double> a, std::span<const double> b);

}  // namespace perfcast
