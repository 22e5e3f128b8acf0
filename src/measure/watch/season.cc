#include "measure/watch/season.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace perfcast::measure {
namespace {

constexpr size_t kLeastRows = 200, kMostPoints = 1024, kLeastLag = 8, kLeastSeasons = 5;
constexpr double kLeastCorrelation = 0.75;
constexpr double kAboutAsHigh = 0.9;
constexpr double kMost_z = 3;
constexpr double kNearWhole = 0.03;  // seasons in a day

// Means of `each` rows, centred; points x columns.
std::vector<double> points_of(std::span<const float> z, size_t columns, size_t each) {
  const size_t points = z.size() / columns / each;
  std::vector<double> values(points * columns, 0);
  for (size_t j = 0; j < columns; ++j) {
    double sum = 0;
    for (size_t p = 0; p < points; ++p) {
      double& value = values[p * columns + j];
      double known = 0;
      for (size_t r = p * each; r < (p + 1) * each; ++r) {
        const auto of = static_cast<double>(z[r * columns + j]);
        if (std::isnan(of)) continue;
        value += std::clamp(of, -kMost_z, kMost_z);
        known += 1;
      }
      value = known > 0 ? value / known : 0;
      sum += value;
    }
    for (size_t p = 0; p < points; ++p) values[p * columns + j] -= sum / static_cast<double>(points);
  }
  return values;
}

double correlation(const std::vector<double>& values, size_t columns, size_t lag) {
  double product = 0;
  double first = 0;
  double second = 0;
  for (size_t i = 0; i + lag * columns < values.size(); ++i) {
    const double a = values[i];
    const double b = values[i + lag * columns];
    product += a * b;
    first += a * a;
    second += b * b;
  }
  return first > 0 && second > 0 ? product / std::sqrt(first * second) : 0;
}

}  // namespace

double find_season(std::span<const float> z, size_t columns, double interval_s) {
  const size_t rows = z.size() / columns;
  if (rows < kLeastRows) return kDay_s;
  const size_t each = (rows + kMostPoints - 1) / kMostPoints;
  const std::vector<double> coarse = points_of(z, columns, each);
  const size_t most = coarse.size() / columns / kLeastSeasons;
  std::vector<double> by_lag(most + 1, 0);
  bool fell = false;
  double highest = 0;
  for (size_t lag = 1; lag <= most; ++lag) {
    const double r = correlation(coarse, columns, lag);
    fell = fell || r < 0;
    if (!fell || lag < kLeastLag) continue;
    by_lag[lag] = r;
    highest = std::max(highest, r);
  }
  if (highest < kLeastCorrelation) return kDay_s;
  size_t lag = 0;
  for (size_t l = 1; l < most && lag == 0; ++l) {
    const bool is_peak = by_lag[l] >= by_lag[l - 1] && by_lag[l] >= by_lag[l + 1];
    if (is_peak && by_lag[l] >= kAboutAsHigh * highest) lag = l;
  }
  if (lag == 0) return kDay_s;
  // More exactly, by its multiples.
  const std::vector<double> fine = points_of(z, columns, 1);
  double exact = static_cast<double>(lag * each);
  for (size_t times = 1; times < kLeastSeasons && times * (lag + 1) * each < rows / 2; ++times) {
    const auto centre = static_cast<size_t>(std::llround(exact * static_cast<double>(times)));
    const size_t around = times == 1 ? each : 2;
    double most_like = -1;
    size_t best = centre;
    for (size_t l = centre - around; l <= centre + around; ++l) {
      const double r = correlation(fine, columns, l);
      if (r <= most_like) continue;
      most_like = r;
      best = l;
    }
    exact = static_cast<double>(best) / static_cast<double>(times);
  }
  const double season_s = exact * interval_s;
  const double in_a_day = kDay_s / season_s;
  // Half a row more or less is no difference.
  const double near_whole = std::max(kNearWhole, 0.5 * in_a_day / exact);
  const bool fits_a_day = std::abs(in_a_day - std::round(in_a_day)) < near_whole && in_a_day > 0.5;
  return fits_a_day ? kDay_s : season_s;
}

}  // namespace perfcast::measure
