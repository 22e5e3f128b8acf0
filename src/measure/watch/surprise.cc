#include "measure/watch/surprise.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "measure/watch/archive.h"
#include "measure/watch/row_kernels.h"

namespace perfcast::measure {
namespace {

constexpr MeanSteps kSteps{.clip = 12, .of_short = 1.0f / 8, .of_long = 1.0f / 40};
constexpr double kTailShare = 0.02;
constexpr float kNever = 1e30f;
constexpr float kReturned = 8;    // nats for the old level
constexpr float kMostOfARow = 2;  // of them: no single row decides

}  // namespace

void Surprise::reset(size_t columns) {
  columns_ = columns;
  means_.assign(4 * columns, 0);
  returning_.assign(2 * columns, 0);
  statistics_.assign(kChannels * columns, 0);
}

void Surprise::update(const float* u, const float* w) {
  const size_t n = columns_;
  float* means = means_.data();
  float* to = statistics_.data();
  update_means(n, u, kSteps, means, means + n, to, to + n, to + 2 * n);
  update_means(n, w, kSteps, means + 2 * n, means + 3 * n, to + 3 * n, to + 4 * n, to + 5 * n);
}

void Surprise::fit(std::span<const float> statistics, size_t rows, bool use_baseline, bool use_joint) {
  const size_t size = kChannels * columns_;
  bound_.assign(size, kNever);
  inverse_beta_.assign(size, 1);
  std::vector<double> values;
  for (size_t i = 0; i < size; ++i) {
    if (i < size / 2 ? !use_baseline : !use_joint) continue;
    values.clear();
    for (size_t r = 0; r < rows; ++r) values.push_back(static_cast<double>(statistics[r * size + i]));
    const double bound = quantile(values, 1 - kTailShare);
    double excess = 0;
    double above = 0;
    for (const double value : values) {
      if (value <= bound) continue;
      excess += value - bound;
      above += 1;
    }
    const double beta = std::max({above > 0 ? excess / above : 0, 0.05 * bound, 0.02});
    bound_[i] = static_cast<float>(bound);
    inverse_beta_[i] = static_cast<float>(1 / beta);
  }
}

float Surprise::score(std::span<const float> statistics, float* by_metric) const {
  const size_t n = columns_;
  std::fill_n(by_metric, n, 0.0f);
  for (size_t c = 0; c < kChannels; ++c) {
    score_channel(n, kLeastSurprise, statistics.data() + c * n, bound_.data() + c * n, inverse_beta_.data() + c * n,
                  by_metric);
  }
  float most = 0;
  for (size_t j = 0; j < n; ++j) most = std::max(most, by_metric[j]);
  return most;
}

float Surprise::surprise_of(Channel channel, size_t column, float value) const {
  const size_t at = static_cast<size_t>(channel) * columns_ + column;
  return value > bound_[at] ? kLeastSurprise + (value - bound_[at]) * inverse_beta_[at] : 0;
}

float Surprise::quick_score() const {
  float most = 0;
  for (const Channel channel : {Channel::kBaseline, Channel::kBaselineShort, Channel::kJoint, Channel::kJointShort}) {
    const float* of = statistics_.data() + static_cast<size_t>(channel) * columns_;
    for (size_t j = 0; j < columns_; ++j) most = std::max(most, surprise_of(channel, j, of[j]));
  }
  return most;
}

bool Surprise::is_long_shift(Channel channel, size_t column) const {
  const size_t at = static_cast<size_t>(channel) * columns_ + column;
  return statistics_[at] > bound_[at];
}

void Surprise::forget_ended(const float* u, const float* w) {
  const size_t n = columns_;
  for (size_t kind = 0; kind < 2; ++kind) {
    const float* of = kind == 0 ? u : w;
    float* short_mean = means_.data() + 2 * kind * n;
    float* long_mean = short_mean + n;
    for (size_t j = 0; j < n; ++j) {
      const float mean = std::abs(short_mean[j]) > std::abs(long_mean[j]) ? short_mean[j] : long_mean[j];
      const float size = std::abs(mean);
      const float towards = std::copysign(std::clamp(of[j], -kSteps.clip, kSteps.clip), of[j] * mean);
      float& sum = returning_[kind * n + j];
      sum = std::max(sum + std::clamp(size * (size / 2 - towards), -kMostOfARow, kMostOfARow), 0.0f);
      if (sum < kReturned) continue;
      sum = short_mean[j] = long_mean[j] = 0;
    }
  }
}

void Surprise::forget_all() { reset(columns_); }

void Surprise::archive(Archive& archive, size_t columns) {
  columns_ = columns;
  archive.array(means_, 4 * columns);
  archive.array(statistics_, kChannels * columns);
  archive.array(bound_, kChannels * columns);
  archive.array(inverse_beta_, kChannels * columns);
  if (archive.version() == 1) {
    returning_.assign(2 * columns, 0);
  } else {
    archive.array(returning_, 2 * columns);
  }
}

}  // namespace perfcast::measure
