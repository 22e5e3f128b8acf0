#include "measure/watch/metric_relations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "measure/watch/archive.h"
#include "measure/watch/row_kernels.h"

namespace perfcast::measure {
namespace {

constexpr size_t kJointSights = kSights - kPastSights;
constexpr std::array<Sight, kJointSights> kAll = {Sight::kJoint, Sight::kJointMean, Sight::kJointLong};
constexpr size_t kSomeOf = 10;       // metrics: more of them outside are several
constexpr double kMuchWorse = 1.02;  // of the error on rows left out
constexpr size_t kLeftOut = 5;       // every so many rows

constexpr size_t channel(Sight sight, bool up) { return 2 * (static_cast<size_t>(sight) - kPastSights) + (up ? 0 : 1); }

}  // namespace

Status MetricRelations::learn(std::span<const float> z, size_t columns, const std::vector<size_t>& rows,
                              const ReconstructionOptions& options, uint32_t least_blocks) {
  Reconstruction next;
  if (Status trained = next.train(z, columns, rows, options); !trained) return trained;
  next.calibrate(z, rows);
  reconstruction_ = std::move(next);
  columns_ = columns;
  w_.assign(columns, 0);
  short_mean_.assign(columns, 0);
  long_mean_.assign(columns, 0);
  tails_.reset(2 * kJointSights, columns, least_blocks);
  low_.assign(columns, HUGE_VALF);
  high_.assign(columns, -HUGE_VALF);
  for (const size_t row : rows) widen_range(columns, z.data() + row * columns, low_.data(), high_.data());
  return {};
}

Status MetricRelations::refresh(std::span<const float> z, size_t columns, size_t rows,
                                const ReconstructionOptions& options) {
  std::vector<size_t> used;
  std::vector<size_t> left_out;
  std::vector<size_t> all(rows);
  std::iota(all.begin(), all.end(), size_t{0});
  for (const size_t row : all) (row % kLeftOut == 0 ? left_out : used).push_back(row);
  if (left_out.empty() || used.empty()) return {};
  Reconstruction next = reconstruction_;
  if (Status trained = next.train(z, columns, used, options); !trained) return trained;
  if (next.error(z, left_out) > kMuchWorse * reconstruction_.error(z, left_out)) return {};
  next.calibrate(z, all);
  reconstruction_ = std::move(next);
  for (const size_t row : all) widen_range(columns, z.data() + row * columns, low_.data(), high_.data());
  return {};
}

void MetricRelations::infer(size_t rows, const float* z) {
  e_.resize(rows * columns_);
  regimes_.resize(rows);
  reconstruction_.residuals(rows, z, e_.data(), regimes_.data());
}

bool MetricRelations::has_seen(const float* z) const {
  size_t outside = 0;
  for (size_t j = 0; j < columns_; ++j) outside += z[j] < low_[j] || z[j] > high_[j] ? 1 : 0;
  return outside <= std::max<size_t>(1, columns_ / kSomeOf);
}

void MetricRelations::look(size_t at, const float* z, float* nats) {
  regime_ = regimes_[at];
  judges_ = has_seen(z);
  if (!judges_) return;
  reconstruction_.conditional(e_.data() + at * columns_, regime_, w_.data());
  for (size_t j = 0; j < columns_; ++j) {
    if (std::isnan(z[j])) w_[j] = std::numeric_limits<float>::quiet_NaN();
  }
  follow_means(columns_, w_.data(), short_mean_.data(), long_mean_.data());
  const std::array<const float*, kJointSights> values = {w_.data(), short_mean_.data(), long_mean_.data()};
  for (size_t s = 0; s < kJointSights; ++s) {
    tails_.look(channel(kAll[s], true), 1, values[s], nats);
    tails_.look(channel(kAll[s], false), -1, values[s], nats);
  }
}

float MetricRelations::statistic(Sight sight, size_t column) const {
  return sight == Sight::kJoint ? w_[column] : sight == Sight::kJointMean ? short_mean_[column] : long_mean_[column];
}

Sighting MetricRelations::find(size_t column) const {
  Sighting best;
  if (!is_known() || !judges_) return best;
  for (const Sight sight : kAll) {
    for (const bool up : {true, false}) {
      const float value = (up ? 1.0f : -1.0f) * statistic(sight, column);
      const float nats = tails_.nats(channel(sight, up), column, value);
      if (nats > best.nats) best = {nats, sight, up};
    }
  }
  return best;
}

Expected MetricRelations::expected(size_t column, const Sighting& sighting, float z) const {
  const float unit = reconstruction_.shift(column, 1, regime_);  // of w, in z
  const float centre = z - w_[column] * unit;                    // what the others say now
  return {centre + statistic(sighting.sight, column) * unit,
          centre - unit * tails_.bound(channel(sighting.sight, false), column),
          centre + unit * tails_.bound(channel(sighting.sight, true), column)};
}

void MetricRelations::accept() {
  if (!is_known()) return;
  for (const Sight sight : kAll) {
    for (size_t j = 0; j < columns_; ++j) {
      tails_.move_bound(channel(sight, true), j, statistic(sight, j));
      tails_.move_bound(channel(sight, false), j, -statistic(sight, j));
    }
  }
  tails_.end_block();
}

void MetricRelations::archive(Archive& archive, size_t columns) {
  bool known = is_known();
  archive.value(known);
  if (!known || !archive.ok()) return;
  columns_ = columns;
  reconstruction_.archive(archive, columns);
  archive.value(judges_);
  for (std::vector<float>* of : {&w_, &short_mean_, &long_mean_, &low_, &high_}) archive.array(*of, columns);
  tails_.archive(archive, 2 * kJointSights, columns);
}

}  // namespace perfcast::measure
