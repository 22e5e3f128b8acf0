#pragma once
// Recorded series of counters and power of the same programs on several platforms, cut at the same instructions.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast::measure::phases_study {

struct RecordedRun {
  std::string program, platform;
  int repeat = 1;
  // Samples x (busy seconds, instructions, joules, events ...).
  Eigen::MatrixXd samples;
};
inline constexpr Eigen::Index kBusyColumn = 0, kInstructionsColumn = 1, kJoulesColumn = 2, kEventColumns = 3;

struct RecordedSet {
  std::string name;
  std::vector<std::string> events;  // of the columns from kEventColumns on
  std::vector<RecordedRun> runs;
};

// A file of `armpm_xu3`: frequencies are the platforms; busy time is cycles over the frequency.
Result<RecordedSet> read_frequency_runs(const std::string& path);
// server_power_counters.csv.gz of `renewit_power`: servers are the platforms; busy time is that of the samples.
Result<RecordedSet> read_server_runs(const std::string& folder);

// A counter of 32 bits that is written as a difference since the sample before wraps to a negative number.
double unwrapped(double difference);

// Sums of all columns over `pieces` parts of equal instructions, where a sample lies in two in proportion.
Eigen::MatrixXd cut_by_instructions(const RecordedRun& run, Eigen::Index pieces);

}  // namespace perfcast::measure::phases_study
