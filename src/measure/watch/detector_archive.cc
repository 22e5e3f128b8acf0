// What a detector saves, and reads of this version and older ones.
#include <algorithm>
#include <utility>

#include "measure/watch/archive.h"
#include "measure/watch/detector.h"

namespace perfcast::measure {

void Detector::archive(Archive& archive) {
  archive.array(warm_up_time_s_);
  if (warm_up_time_s_.size() > options_.warm_up_rows) archive.fail();
  if (!archive.ok()) return;
  archive.array(warm_up_values_, warm_up_time_s_.size() * columns_);
  bool learnt = model_.has_value();
  archive.value(learnt);
  if (!learnt || !archive.ok()) return;
  if (archive.reading()) model_.emplace();
  model_->archive(archive, columns_);
  if (archive.ok() && options_.use_joint && model_->reconstruction.columns() != columns_) archive.fail();
  if (archive.version() == 1) {
    archive_first_version(archive);
  } else {
    archive_states(archive);
  }
  archive.values(episodes_, settling_rows_, last_time_s_, followed_s_, refreshed_s_, rows_since_refresh_, seen_);
  archive.array(reservoir_time_s_);
  if (reservoir_time_s_.size() > kReservoirRows) archive.fail();
  if (!archive.ok()) return;
  archive.array(reservoir_, reservoir_time_s_.size() * columns_);
}

void Detector::archive_states(Archive& archive) {
  const size_t states = archive.count(states_.size(), columns_ * sizeof(float));
  if (states == 0 || states > kMostStates) archive.fail();
  if (!archive.ok()) return;
  if (archive.reading()) {
    states_.assign(states, UsualState(columns_));
    returns_.assign(states - 1, {});
  }
  for (size_t k = 1; k < states; ++k) states_[k].archive(archive, columns_);
  for (Return& back : returns_) {
    archive.values(back.rows, back.since_s);
    if (back.rows > 0) back.surprise.archive(archive, columns_);
  }
  archive.value(episode_.open);
  archive.value(episode_.is_quick);
  archive.values(episode_.id, episode_.rows, episode_.quiet_rows, episode_.since_s, episode_.last_s, episode_.most);
  archive.values(episode_.tried_rows, reopened_, closed_rows_);
  if (reopened_ > kMostFlaps) archive.fail();
  archive.array(episode_.surprise, columns_);
  archive.array(episode_.recent_s);
  if (episode_.recent_s.size() > kRecentRows) archive.fail();
  if (!archive.ok()) return;
  archive.array(episode_.recent_z, episode_.recent_s.size() * columns_);
  archive.array(episode_.recent_quiet, episode_.recent_s.size());
  if (archive.version() > 2) archive_growth(archive);
  if (archive.version() <= 2 && archive.reading()) episode_.growth.begin(columns_, Severity::kMinor);
}

void Detector::archive_growth(Archive& archive) {
  episode_.growth.archive(archive, columns_);
  archive.value(episode_.worst_s);
  const size_t metrics = archive.count(episode_.worst.size(), sizeof(double));
  if (metrics > kMostNamed) archive.fail();
  if (!archive.ok()) return;
  if (archive.reading()) episode_.worst.resize(metrics);
  for (AlertMetric& metric : episode_.worst) {
    auto column = static_cast<uint64_t>(metric.column);
    auto rule = static_cast<uint8_t>(metric.rule);
    archive.values(column, metric.share, metric.value, metric.expected, rule);
    if (column >= columns_ || rule > static_cast<uint8_t>(PresenceRule::kStuck)) archive.fail();
    if (!archive.ok()) return;
    metric.column = column;
    metric.rule = static_cast<PresenceRule>(rule);
  }
}

// Of version 1, which knew an offset of z alone.
void Detector::archive_first_version(Archive& archive) {
  UsualState moved(columns_);
  archive.array(moved.offset.added, columns_);
  moved.level = moved.offset;
  states_.assign(1, UsualState(columns_));
  if (std::any_of(moved.offset.added.begin(), moved.offset.added.end(), [](float offset) { return offset != 0; }))
    states_.push_back(std::move(moved));
  returns_.assign(states_.size() - 1, {});
  archive.value(episode_.open);
  archive.values(episode_.id, episode_.rows, episode_.quiet_rows, episode_.since_s, episode_.last_s, episode_.most);
  archive.array(episode_.surprise, columns_);
  std::vector<float> shift;
  std::vector<uint32_t> long_rows;
  archive.array(shift, columns_);
  archive.array(long_rows, columns_);
}

}  // namespace perfcast::measure
