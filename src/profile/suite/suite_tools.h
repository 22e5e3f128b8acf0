#pragma once
// The tools that run a suite's programs, and what they report about the work that was really done.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

// What a run did, by the tool's own report: units of work and the CPU time that they took, start-up excluded.
struct WorkReport {
  double work_units = 0;
  double user_s = 0, system_s = 0, wall_s = 0;
  double cpu_s() const { return user_s + system_s; }
};

// One stressor's entry of the file that `stress-ng --metrics --yaml FILE` writes. Errors: "no-metrics" where the
// stressor is not in it (it was skipped), "no-work" where it did no operation, "bad-number".
Result<WorkReport> parse_stress_ng_metrics(std::string_view yaml, const std::string& stressor,
                                           const std::string& source);

// The line that perfcast-harness prints.
Result<WorkReport> parse_harness_report(std::string_view json, const std::string& source);

struct StressNg {
  std::string path;
  std::string version;  // "0.20.01"
  std::set<std::string> stressors;
};

// What `stress-ng --version` and `--stressors` print.
std::string parse_stress_ng_version(std::string_view text);  // empty where it is no such line
std::set<std::string> parse_stress_ng_stressors(std::string_view text);

// `path` empty: by PATH. Errors: "tool-missing", "not-stress-ng".
Result<StressNg> find_stress_ng(const std::string& path);

struct Harness {
  std::string path;
  std::set<std::string> compressors;
  bool crypto = false;
};

// Beside the running binary, by PATH, or `path`. Errors: "tool-missing", "bad-harness".
Result<Harness> find_harness(const std::string& path);

// Files of a suite's run. What can't be told or removed counts as absent: reports of an earlier run must not be taken
// for this one's.
bool exists(const std::string& path);
void remove_file(const std::string& path);

}  // namespace perfcast
