#include "measure/watch/metric_past.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/unknown.h"
#include "measure/watch/archive.h"
#include "measure/watch/row_kernels.h"

namespace perfcast::measure {
namespace {

constexpr float kAbsent = std::numeric_limits<float>::quiet_NaN();
constexpr double kReference_s = 86400, kLeastReferenceRows = 100, kMostReferenceRows = 2000;
constexpr float kFirstStep = 0.3f;      // in z: before any is known
constexpr float kDrawn = 0.15f;         // of a part's range, each season, to what it is now
constexpr float kFaded = 0.7f;          // of a part's nats, each season
constexpr float kRarer = 1.3f;          // than at this time of earlier seasons
constexpr size_t kLeastNeighbours = 2;  // that a season must know of a part and both neighbours

constexpr std::array<Sight, 3> kReturning = {Sight::kJump, Sight::kShortShift, Sight::kLongShift};

constexpr size_t channel_of(Sight sight, bool up) { return 2 * static_cast<size_t>(sight) + (up ? 0 : 1); }
// Its downwards is not minus its upwards.
constexpr bool has_two(Sight sight) { return sight == Sight::kSeason || sight == Sight::kSeasonMean; }

}  // namespace

const char* to_text(Sight sight) {
  static constexpr std::array<const char*, kSights> kTexts = {
      "value",       "mean",        "jump",          "shift",         "shift",        "variation",
      "time of day", "time of day", "other metrics", "other metrics", "other metrics"};
  return kTexts[static_cast<size_t>(sight)];
}

void MetricPast::reset(size_t columns, double interval_s, double season_s) {
  columns_ = columns;
  interval_s_ = std::max(interval_s, 1e-9);
  season_s_ = season_s;
  parts_ =
      season_s > 0 ? static_cast<size_t>(std::clamp(season_s / interval_s_, 1.0, static_cast<double>(kMostParts))) : 0;
  rows_ = 0;
  last_.assign(columns, kAbsent);
  for (std::vector<float>* mean : {&short_mean_, &long_mean_, &reference_}) mean->assign(columns, 0);
  step_.assign(columns, kFirstStep);
  statistics_.assign(2 * kPastSights * columns, kAbsent);
  tails_.reset(2 * kPastSights, columns);
  part_ = parts_;
  part_known_.assign(parts_, 0);
  for (std::vector<float>* of : {&part_low_, &part_high_}) of->assign(parts_ * columns, kAbsent);
  part_nats_.assign(parts_ * columns, 0);
  low_.assign(columns, HUGE_VALF);
  high_.assign(columns, -HUGE_VALF);
  nats_.assign(columns, 0);
  for (std::vector<float>* of : {&around_low_, &around_high_}) of->assign(columns, kAbsent);
  around_nats_.assign(columns, 0);
}

void MetricPast::begin_part(size_t part) {
  if (part_ < parts_) {
    float* const low = part_low_.data() + part_ * columns_;
    float* const high = part_high_.data() + part_ * columns_;
    float* const nats = part_nats_.data() + part_ * columns_;
    for (size_t j = 0; j < columns_; ++j) {
      nats[j] = std::max(nats_[j], kFaded * nats[j]);
      if (!(high_[j] >= low_[j])) continue;
      part_known_[part_] = 1;
      high[j] = high_[j] < high[j] ? high[j] + kDrawn * (high_[j] - high[j]) : high_[j];
      low[j] = low_[j] > low[j] ? low[j] + kDrawn * (low_[j] - low[j]) : low_[j];
    }
  }
  low_.assign(columns_, HUGE_VALF);
  high_.assign(columns_, -HUGE_VALF);
  nats_.assign(columns_, 0);
  part_ = part;
  take_neighbours();
}

void MetricPast::take_neighbours() {
  const std::array<size_t, 3> around = {(part_ + parts_ - 1) % parts_, part_, (part_ + 1) % parts_};
  size_t known = 0;
  for (const size_t part : around) known += part_known_[part];
  for (size_t j = 0; j < columns_; ++j) {
    float low = HUGE_VALF;
    float high = -HUGE_VALF;
    float nats = 0;
    for (const size_t part : around) {
      const size_t at = part * columns_ + j;
      if (part_low_[at] < low) low = part_low_[at];
      if (part_high_[at] > high) high = part_high_[at];
      nats = std::max(nats, part_nats_[at]);
    }
    const bool is_known = known >= kLeastNeighbours && low <= high;
    around_low_[j] = is_known ? low : kAbsent;
    around_high_[j] = is_known ? high : kAbsent;
    around_nats_[j] = kRarer * nats;
  }
}

void MetricPast::look(double time_s, const float* z, bool holds, float* nats) {
  if (parts_ > 0) {
    const double phase = time_s / season_s_ - std::floor(time_s / season_s_);
    const size_t part = std::min(static_cast<size_t>(phase * static_cast<double>(parts_)), parts_ - 1);
    if (part != part_) begin_part(part);
  }
  const double rows = std::clamp(kReference_s / interval_s_, kLeastReferenceRows, kMostReferenceRows);
  const double step = holds ? 0 : std::max(1 / rows, 1 / static_cast<double>(rows_ + 1));
  ++rows_;
  follow_past(columns_, z, static_cast<float>(step),
              {last_.data(), short_mean_.data(), long_mean_.data(), reference_.data(), step_.data()},
              {of(Sight::kValue, true), of(Sight::kMean, true), of(Sight::kJump, true), of(Sight::kShortShift, true),
               of(Sight::kLongShift, true), of(Sight::kVariation, true)});
  leave_range(columns_, z, of(Sight::kMean, true), around_low_.data(), around_high_.data(), of(Sight::kSeason, true),
              of(Sight::kSeason, false), of(Sight::kSeasonMean, true), of(Sight::kSeasonMean, false));
  if (parts_ > 0 && !holds) widen_range(columns_, z, low_.data(), high_.data());
  for (size_t s = 0; s < kPastSights; ++s) {
    const auto sight = static_cast<Sight>(s);
    tails_.look(channel_of(sight, true), 1, of(sight, true), nats);
    tails_.look(channel_of(sight, false), has_two(sight) ? 1 : -1, of(sight, !has_two(sight)), nats);
  }
}

Sighting MetricPast::find(size_t column) const {
  Sighting best;
  for (size_t s = 0; s < kPastSights; ++s) {
    const auto sight = static_cast<Sight>(s);
    for (const bool up : {true, false}) {
      const float value = has_two(sight) || up ? of(sight, up)[column] : -of(sight, true)[column];
      const float nats = tails_.nats(channel_of(sight, up), column, value);
      if (nats > best.nats) best = {nats, sight, up};
    }
  }
  return best;
}

void MetricPast::compare_with_season(float usual, float* nats) {
  if (parts_ == 0) return;
  for (size_t j = 0; j < columns_; ++j) {
    nats_[j] = std::max(nats_[j], nats[j]);
    if (nats[j] <= around_nats_[j]) nats[j] = std::min(nats[j], usual);
  }
}

Expected MetricPast::expected(size_t column, const Sighting& sighting) const {
  const Sight sight = sighting.sight;
  const float high = tails_.bound(channel_of(sight, true), column);
  const float low = tails_.bound(channel_of(sight, false), column);
  const float now = of(sight, true)[column];
  const float value = last_[column];
  const float mean = short_mean_[column];
  switch (sight) {
    case Sight::kValue:
      return {value, -low, high};
    case Sight::kMean:
      return {mean, -low, high};
    case Sight::kJump:
      return {value, value - now - low, value - now + high};
    case Sight::kShortShift:
      return {mean, reference_[column] - low, reference_[column] + high};
    case Sight::kLongShift:
      return {long_mean_[column], reference_[column] - low, reference_[column] + high};
    case Sight::kSeason:
      return {value, around_low_[column] - low, around_high_[column] + high};
    case Sight::kSeasonMean:
      return {mean, around_low_[column] - low, around_high_[column] + high};
    default:
      break;
  }
  return {std::exp(sighting.up ? now - high : now + low), 1, 1};
}

Expected MetricPast::usual(size_t column) const {
  if (!std::isnan(around_low_[column])) return {last_[column], around_low_[column], around_high_[column]};
  return expected(column, {});
}

void MetricPast::accept() {
  for (size_t s = 0; s < kPastSights; ++s) {
    const auto sight = static_cast<Sight>(s);
    const bool returns = std::find(kReturning.begin(), kReturning.end(), sight) != kReturning.end();
    for (size_t j = 0; j < columns_; ++j) {
      for (const bool up : {true, false}) {
        const float now = has_two(sight) || up ? of(sight, up)[j] : -of(sight, true)[j];
        tails_.move_bound(channel_of(sight, up), j, now);
        if (returns) tails_.move_bound(channel_of(sight, up), j, tails_.block_most(channel_of(sight, !up), j));
      }
    }
  }
  reference_ = short_mean_;
  tails_.end_block();
}

void MetricPast::archive(Archive& archive, size_t columns) {
  columns_ = columns;
  auto parts = static_cast<uint64_t>(parts_);
  archive.values(parts, season_s_, interval_s_, rows_, part_);
  if (parts > kMostParts || (parts > 0) != (season_s_ > 0) || part_ > parts || !(interval_s_ > 0)) archive.fail();
  if (!archive.ok()) return;
  parts_ = parts;
  for (std::vector<float>* of : {&last_, &short_mean_, &long_mean_, &reference_, &step_}) archive.array(*of, columns);
  archive.array(statistics_, 2 * kPastSights * columns);
  tails_.archive(archive, 2 * kPastSights, columns);
  archive.array(part_known_, parts_);
  for (std::vector<float>* of : {&part_low_, &part_high_, &part_nats_}) archive.array(*of, parts_ * columns);
  for (std::vector<float>* of : {&low_, &high_, &nats_, &around_low_, &around_high_, &around_nats_})
    archive.array(*of, columns);
}

}  // namespace perfcast::measure
