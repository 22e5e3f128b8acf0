#include "measure/watch/seasonal_baseline.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "measure/watch/archive.h"
#include "measure/watch/row_kernels.h"

namespace perfcast::measure {
namespace {

constexpr size_t kLeastRows = 30;  // of a part
constexpr double kSeasons = 1.9;   // that a history must span: two, less a little
constexpr float kLeastSeasonDeviation = 0.03f;
constexpr float kStep = 5e-4f;  // of a deviation, a row

}  // namespace

void SeasonalBaseline::fit(std::span<const float> z, std::span<const double> time_s,
                           const std::vector<size_t>& rows_used, size_t columns, double season_s) {
  columns_ = columns;
  season_s_ = season_s;
  const size_t size = (kParts + 1) * columns;
  median_.assign(size, 0);
  deviation_.assign(size, 1);
  double first = HUGE_VAL;
  double last = -HUGE_VAL;
  for (const size_t row : rows_used) {
    first = std::min(first, time_s[row]);
    last = std::max(last, time_s[row]);
  }
  seasonal_ = season_s > 0 && last - first >= kSeasons * season_s;
  std::vector<std::vector<double>> values(kParts + 1);
  for (size_t j = 0; j < columns; ++j) {
    for (auto& part : values) part.clear();
    for (const size_t row : rows_used) {
      const float value = z[row * columns + j];
      if (std::isnan(value)) continue;
      values[kParts].push_back(static_cast<double>(value));
      if (seasonal_) values[part(time_s[row])].push_back(static_cast<double>(value));
    }
    for (size_t p = kParts + 1; p-- > 0;) {
      std::vector<double>& of = values[p];
      if (of.size() < kLeastRows) {
        median_[p * columns + j] = median_[kParts * columns + j];
        deviation_[p * columns + j] = deviation_[kParts * columns + j];
        continue;
      }
      median_[p * columns + j] = static_cast<float>(perfcast::median(of));
      const double range = (quantile(of, 0.95) - quantile(of, 0.05)) / 3.29;
      const double spread = std::max(robust_deviation(std::move(of)), 0.5 * range);
      deviation_[p * columns + j] = std::max(static_cast<float>(spread), kLeastSeasonDeviation);
    }
  }
  inverse_.resize(size);
  for (size_t i = 0; i < size; ++i) inverse_[i] = 1 / deviation_[i];
}

size_t SeasonalBaseline::part(double time_s) const {
  if (!seasonal_) return kParts;
  const double phase = time_s / season_s_ - std::floor(time_s / season_s_);
  return std::min(static_cast<size_t>(phase * static_cast<double>(kParts)), kParts - 1);
}

void SeasonalBaseline::score(const float* z, size_t part, float* u) const {
  score_row(columns_, z, median_.data() + part * columns_, inverse_.data() + part * columns_, u);
}

double SeasonalBaseline::median(size_t part, size_t column) const {
  return static_cast<double>(median_[part * columns_ + column]);
}

double SeasonalBaseline::deviation(size_t part, size_t column) const {
  return static_cast<double>(deviation_[part * columns_ + column]);
}

void SeasonalBaseline::adapt(const float* z, size_t part) {
  const size_t at = part * columns_;
  adapt_row(columns_, z, kStep, kLeastSeasonDeviation, median_.data() + at, deviation_.data() + at,
            inverse_.data() + at);
}

void SeasonalBaseline::archive(Archive& archive, size_t columns) {
  columns_ = columns;
  archive.value(season_s_);
  archive.value(seasonal_);
  if (seasonal_ && !(season_s_ > 0)) archive.fail();
  const size_t size = (kParts + 1) * columns;
  archive.array(median_, size);
  archive.array(deviation_, size);
  archive.array(inverse_, size);
}

}  // namespace perfcast::measure
