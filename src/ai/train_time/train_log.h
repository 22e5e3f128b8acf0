#pragma once
// Trainings on disk. Ours is perfcast.bench.train-log/1: JSON lines, a head, then a line for each event as it happens,
// so that nothing is lost with a crash:
//   {"schema": "perfcast.bench.train-log/1", "metric": "accuracy"}
//   {"event": "start", "system": "a", "seed": 1, "command": [...]}
//   {"event": "reading", "system": "a", "seed": 1, "time_s": 12.5, "value": 0.91}
//   {"event": "end", "system": "a", "seed": 1, "state": "done", "wall_s": 60.1, "meters": [...]}
// Logs that others wrote are read in two forms: CSV with a column of times (time_s, time_min or time_h), one of the
// metric, and perhaps `system` and `seed`; lines with the metric (metric_lines.h) that state their own time in JSON:
// time_s, elapsed_s, or time_ms. Times of a clock count from the run's start: the line that a pattern finds, else the
// event run_start, else the first line. A run_start behind an evaluation or a run_stop begins the next run.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ai/train_time/metric_lines.h"
#include "ai/train_time/train_curve.h"
#include "base/result.h"

namespace perfcast::ai {

inline constexpr const char* kTrainLogSchema = "perfcast.bench.train-log/1";
inline constexpr size_t kMostReadings = 1000000;  // of one log

std::string train_log_head(const std::string& metric);
std::string train_log_start(const std::string& system, int64_t seed, const std::vector<std::string>& command);
std::string train_log_reading(const std::string& system, int64_t seed, const MetricReading& reading);
std::string train_log_end(const TrainCurve& curve);

// Whether a text is a record of ours whose runs have all ended, none with an evaluation: nothing is lost with it.
bool is_spent_record(std::string_view text);

struct TrainLog {
  std::vector<TrainCurve> curves;  // in the order of their starts; a seed that was begun again counts once, the last
  std::map<std::string, std::vector<std::string>> commands;  // of the systems of our own logs
  bool is_own = false;
  size_t whole_bytes = 0;          // up to the end of the last whole line
  std::vector<std::string> notes;  // what its reader should know: where its clock starts
};

// `system`: the name of what a log calls nothing. `start_pattern`: a regular expression that finds the line at which
// the clock starts (empty: none); of no use, and so noted, where times count from the run's start already. Errors:
// "bad-log" (with the line), "no-readings" (and which columns or metrics there are), "other-metric" where our log is of
// another metric, "too-many-readings", "no-start" where no line with a time matches, "bad-usage" for a pattern.
Result<TrainLog> parse_train_log(std::string_view text, const std::string& source, const MetricReader& reader,
                                 const std::string& system, const std::string& start_pattern = "");

}  // namespace perfcast::ai
