#include "measure/watch/episode_growth.h"

#include <algorithm>
#include <cmath>

#include "measure/watch/archive.h"

namespace perfcast::measure {
namespace {

constexpr uint64_t kRows = 8;
constexpr double kWorse = 2, kLeastGrowth = 2;  // times as far off; usual deviations
constexpr double kLeastTold = 1;                // usual deviations: of less no ratio says anything

}  // namespace

void EpisodeGrowth::begin(size_t columns, Severity severity) {
  *this = {};
  mean_.assign(columns, 0);
  told_severity_ = static_cast<uint8_t>(severity);
}

std::optional<Worse> EpisodeGrowth::add(std::span<const float> shifts, std::span<const float> surprises, double level,
                                        Severity severity) {
  ++rows_;
  ++told_rows_;
  const auto step = 1 / static_cast<float>(std::min(rows_, kRows));
  double far = 0;
  for (size_t j = 0; j < mean_.size(); ++j) {
    mean_[j] += step * (shifts[j] - mean_[j]);
    const auto off = static_cast<double>(std::abs(mean_[j]));
    if (static_cast<double>(surprises[j]) <= level || off < far) continue;
    far = off;
    column_ = j;
  }
  is_farthest_ = rows_ == 1 || far > most_;
  most_ = std::max(most_, far);
  if (rows_ <= kRows) told_ = most_;
  if (told_rows_ <= kRows) return std::nullopt;
  Worse worse;
  worse.grew = far >= kWorse * told_ && far >= told_ + kLeastGrowth;
  const auto told_severity = static_cast<Severity>(told_severity_);
  if (severity > told_severity) worse.was = told_severity;
  if (!worse.grew && !worse.was) return std::nullopt;
  if (worse.grew) {
    if (told_ >= kLeastTold) worse.times_as_far = far / told_;
    told_ = far;
  }
  told_rows_ = 0;
  told_severity_ = static_cast<uint8_t>(severity);
  return worse;
}

void EpisodeGrowth::archive(Archive& archive, size_t columns) {
  mean_.resize(columns);
  archive.array(mean_, columns);
  archive.values(rows_, told_rows_, told_, most_, told_severity_);
  if (told_severity_ > static_cast<uint8_t>(Severity::kCritical)) archive.fail();
}

}  // namespace perfcast::measure
