// What a detector saves and reads.
#include <algorithm>

#include "measure/watch/archive.h"
#include "measure/watch/detector.h"

namespace perfcast::measure {

void Detector::archive(Archive& archive) {
  archive.array(warm_up_time_s_);
  if (!archive.ok()) return;
  archive.array(warm_up_values_, warm_up_time_s_.size() * columns_);
  archive.value(has_learnt_);
  if (!has_learnt_ || !archive.ok()) return;
  archive.value(interval_s_);
  if (!(interval_s_ > 0)) archive.fail();
  archive.array(is_count_, columns_);
  archive.array(last_count_, columns_);
  transform_.archive(archive, columns_);
  past_.archive(archive, columns_);
  if (!archive.ok()) return;
  relations_.archive(archive, columns_);
  rules_.archive(archive, columns_);
  level_.archive(archive);
  archive_episode(archive);
  archive.values(episodes_, rows_, relations_due_, last_time_s_, refreshed_s_, rows_since_refresh_, seen_);
  archive.array(reservoir_time_s_);
  if (reservoir_time_s_.size() > kReservoirRows) archive.fail();
  if (!archive.ok()) return;
  archive.array(reservoir_, reservoir_time_s_.size() * columns_);
}

void Detector::archive_episode(Archive& archive) {
  archive.value(episode_.open);
  archive.value(episode_.is_quick);
  archive.values(episode_.id, episode_.rows, episode_.quiet_rows, episode_.long_rows, episode_.most_row,
                 episode_.wait_rows, episode_.since_s, episode_.last_s, episode_.most, episode_.far);
  auto severity = static_cast<uint8_t>(episode_.severity);
  archive.value(severity);
  if (severity > static_cast<uint8_t>(Severity::kCritical)) archive.fail();
  episode_.severity = static_cast<Severity>(severity);
  archive.array(episode_.surprise, columns_);
  episode_.growth.archive(archive, columns_);
  archive.value(episode_.worst_s);
  const size_t metrics = archive.count(episode_.worst.size(), sizeof(double));
  if (metrics > kMostNamed) archive.fail();
  if (!archive.ok()) return;
  if (archive.reading()) episode_.worst.resize(metrics);
  for (AlertMetric& metric : episode_.worst) {
    auto column = static_cast<uint64_t>(metric.column);
    auto rule = static_cast<uint8_t>(metric.rule);
    auto sight = static_cast<uint8_t>(metric.sight);
    archive.values(column, metric.share, metric.value, metric.expected, rule, sight, metric.low, metric.high,
                   metric.mean, metric.times);
    archive.value(metric.is_growth);
    if (column >= columns_ || rule > static_cast<uint8_t>(PresenceRule::kStuck) || sight >= kSights) archive.fail();
    if (!archive.ok()) return;
    metric.column = column;
    metric.rule = static_cast<PresenceRule>(rule);
    metric.sight = static_cast<Sight>(sight);
  }
}

}  // namespace perfcast::measure
