#pragma once
// Two sessions of benchmarks whose runs were not made in turns: the old file beside the new one.
//
// What a machine does differently in the second session (neighbours, clocks, where code and data lie) moves all runs
// of a benchmark together, so that no number of runs shows it. Its size is taken from the other benchmarks of both
// files, most of which a change leaves alone: what the median of their |log ratio| says of a normal deviation, or their
// 80% quantile where that says more, as some programs move further than others. Of a few others a median says little:
// then their mean square, each held to 2.5 times that. About nought, not about their median: where all are slower
// alike, files can't tell the machine from the change. With fewer than three others it is assumed. The rest
// is Yuen's test of trimmed means (Biometrika 61(1), 1974) on logs of times, its standard errors stretched where runs
// resemble those before them, with Welch's degrees of freedom; Bonferroni's inequality over the benchmarks, so that all
// intervals hold together.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/compare/comparison.h"
#include "measure/compare/result_file.h"

namespace perfcast::measure {

// Standard deviation of a benchmark's log ratio of two sessions on a shared machine, where nothing changed: what
// `tools/bench-compare sessions` found on such a one, of programs of some 10 ms. On a quiet machine it is less.
inline constexpr double kAssumedBetweenSessions = 0.2;
// Others that say more than that.
inline constexpr size_t kFewestOthers = 3;

struct SessionRequest {
  ComparedTime time = ComparedTime::kWall;
  double error_ratio = 0.05;  // of calling any of them different where nothing is
  double threshold_ratio = 0;
  std::optional<double> between_sessions;    // a standard deviation of log ratios; absent: as above
  std::map<std::string, double> between_of;  // the same of single benchmarks, by name: goes before
  // One run of each is enough: what runs differ by is little beside between_sessions.
  bool single_runs_count = false;
};

struct SessionRow {
  std::string name;  // in A; in B, too, but for two files of one benchmark each
  std::array<int64_t, 2> runs{};
  std::array<double, 2> time_s{};          // the trimmed mean of the logs, back in seconds
  double ratio = 1, lower = 0, upper = 0;  // B's over A's; not finite where too few runs say how they vary
  double between_sessions = 0;             // as assumed for this row
  CompareVerdict verdict = CompareVerdict::kUnclear;
};

struct SessionComparison {
  ComparedTime time = ComparedTime::kWall;
  double error_ratio = 0.05, threshold_ratio = 0;
  bool is_estimated = false;                          // between_sessions, from the other benchmarks
  std::vector<SessionRow> rows;                       // in A's order
  std::array<std::vector<std::string>, 2> unmatched;  // benchmarks of one file alone
  double median_ratio = 1;                            // over the rows
  std::vector<CountRow> counts;                       // of two profiles: instructions first, then what differs most
  std::vector<std::string> notes;
  bool any(CompareVerdict verdict) const;
};

// Errors: "no-results" (no benchmark in common, or none with this kind of time).
Result<SessionComparison> compare_sessions(const ResultFile& a, const ResultFile& b, const SessionRequest& request);

// Adds what two profiles say beside their times: how their counts differ, and that they were taken on different hosts.
// Errors: those of count_both().
Status add_profile_facts(const Profile& a, const Profile& b, SessionComparison& comparison);

// Mean of what is left without a fifth at either end, its standard error squared (Yuen's) and the degrees of freedom of
// that.
struct TrimmedMean {
  double mean = 0, squared_error = 0, freedom = 0;  // freedom 0: one value, whose error nobody knows
};
TrimmedMean trimmed_mean(std::vector<double> values);

// The standard deviation that most of some normal values about 0 have, whatever a few outliers do, from their absolute
// values: by their median or by a high quantile, whichever says more. `values`: how many values of a plain deviation
// it is worth.
struct SpreadOfMost {
  double deviation = 0, values = 0;
};
SpreadOfMost spread_of_most(const std::vector<double>& absolute);
// The same of the other benchmarks of two files, which may be few. Worth so many values that of benchmarks whose ratios
// have Student's t with 4 degrees of freedom no more than 6% of pairs of files with 4 to 9 benchmarks are called
// changed at an error of 5%, of normal ones 2%.
SpreadOfMost spread_of_others(const std::vector<double>& absolute);

}  // namespace perfcast::measure
