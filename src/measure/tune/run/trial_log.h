#pragma once
// A tuning as JSON lines, perfcast.tuning-log/1: a head, then a line for each run as it ends, so that nothing is lost.
// What was cut off in its last line is left out.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/tune/run/trial_runner.h"

namespace perfcast::measure {

inline constexpr const char* kTuningLogSchema = "perfcast.tuning-log/1";

enum class RunPurpose { kSearch, kAgain, kFinal };  // a first run, one more of the same setting, the last comparison

struct LoggedRun {
  RunPurpose purpose = RunPurpose::kSearch;
  Setting setting;
  TrialRun run;
};

// What a log must agree about with a tuning that goes on with it: knobs, commands, objective, what is refused.
std::string fingerprint_of(const TuneFile& file, const std::vector<std::string>& command);

// "wall_s", "cpu_s", or "minimise PATTERN": numbers of two objectives don't compare.
std::string objective_text(const Objective& objective);

std::string log_head(const TuneFile& file, const std::vector<std::string>& command, uint64_t seed);
std::string log_line(const TuneSpace& space, const LoggedRun& run);

struct TrialLog {
  std::string fingerprint, objective;
  std::vector<LoggedRun> runs;
  size_t unknown = 0;      // runs whose setting isn't one of this space
  size_t whole_bytes = 0;  // up to the end of the last whole line
};
// By the texts of the knobs' values: knobs that the log doesn't have are at their defaults. Errors: "bad-log" where the
// head or a line that isn't the last is no such thing.
Result<TrialLog> parse_trial_log(std::string_view text, const TuneSpace& space, const std::string& source);

class TrialLogFile {
 public:
  TrialLogFile() = default;
  ~TrialLogFile();
  TrialLogFile(const TrialLogFile&) = delete;
  TrialLogFile& operator=(const TrialLogFile&) = delete;
  // Anew, or cut to its first `keep_bytes` where that is given.
  Status open_at(const std::string& path, std::optional<size_t> keep_bytes);
  Status add(const std::string& line);

 private:
  Status failed() const;
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace perfcast::measure
