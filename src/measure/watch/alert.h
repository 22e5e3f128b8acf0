#pragma once
// What a watcher says: an episode of unusual rows begins, becomes clearly worse, lasts so long that it is a change, or
// ends.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/unknown.h"
#include "measure/watch/alarm_level.h"
#include "measure/watch/episode_growth.h"
#include "measure/watch/presence_rules.h"
#include "measure/watch/sighting.h"

namespace perfcast::measure {

enum class AlertKind { kAnomaly, kChange };
// An episode begins or became worse, or it ends: usual again, or taken for the new usual.
enum class AlertState { kOpen, kClosed };

struct AlertMetric {
  size_t column = 0;
  double share = 0;                          // of the surprise of all metrics; 0 .. 1
  double value = 0, expected = 0;            // in the metric's unit, of the row that is said; NaN where absent
  PresenceRule rule = PresenceRule::kUsual;  // missing or stuck; else an unusual value
  Sight sight = Sight::kValue;               // in which way it is unusual
  double low = kUnknown, high = kUnknown;    // what is expected, of what is looked at
  double mean = kUnknown;                    // of the latest rows, where that is looked at
  bool is_growth = false;                    // of a count: what is said is how it grows from row to row
  double times = kUnknown;                   // as much as usual from row to row, where that is looked at
};

struct Alert {
  uint64_t id = 0;  // of the episode within its group, from 1
  AlertKind kind = AlertKind::kAnomaly;
  AlertState state = AlertState::kOpen;
  Severity severity = Severity::kMinor;
  double time_s = 0, since_s = 0;    // of the row that is said; of the episode's first
  double duration_s = 0;             // until it was usual again, or the row that is said; of a change that is over, its
  double score = 0, level = 0;       // nats; the episode's largest so far, and what an alarm needs
  uint64_t rows = 0;                 // of the episode so far
  std::optional<Worse> worse;        // the episode was told before, and is clearly worse now
  bool provisional = false;          // of so few rows that what is usual is known roughly
  std::vector<AlertMetric> metrics;  // at most 5, by their share
  double worst_s = 0;                // where an episode is over: of the row that was farthest off
  std::vector<AlertMetric> worst;    // and its metrics
  size_t row = 0;                    // of the block that it was found in
  std::string group;
};

// perfcast.alert/1, on one line. `names`: of the columns.
Json alert_json(const Alert& alert, const std::vector<std::string>& names);
// One line for a person: "2026-01-02 03:04:05  #3 major anomaly: misses 3200000 where 1 to 1.2 is expected (71%)".
std::string alert_text(const Alert& alert, const std::vector<std::string>& names);

// "45 s", "2 min 6 s", "1 h 30 min", "1 d 4 h".
std::string lasting_text(double seconds);

// "2026-01-02 03:04:05", UTC, for times of this and the last century; else seconds.
std::string time_text(double time_s);

}  // namespace perfcast::measure
