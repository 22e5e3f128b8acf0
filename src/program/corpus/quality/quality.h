#pragma once
// The quality card of a corpus: what is there, what is missing, and how far its labels can be trusted.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/unknown.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

// How well one half of the servers tells what the other half measured: no model can be judged below it. Entries are
// (program, platform) pairs of log time, centred per program over the platforms that have both halves; it takes two.
struct NoiseFloor {
  std::string group;
  int64_t entries_count = 0;
  int64_t drawn_entries_count = 0;  // of published means, whose halves were drawn: PlatformTime::drawn_halves
  double mape_ratio = kUnknown, median_error_ratio = kUnknown;  // NaN without entries
  std::optional<double> r2_log;                                 // absent without spread
  std::optional<double> pair_order;                             // of pairs over 5% apart; absent without such pairs
};

struct ProgramQuality {
  std::string id, family, group, excluded;
  std::vector<int64_t> threads;  // that runs were made with; 0: all cores
  int64_t platforms_count = 0, runs_count = 0;
  bool has_profile = false;
  std::optional<double> noise_mape_ratio;  // as in NoiseFloor, of this program
  std::optional<double> spread_ratio;      // median over platforms of the deviation between servers; 0.02 is 2%
  std::optional<double> host_label_ratio;  // CPU time per unit of work in its profile / label of the host's platform
  std::string host_platform;               // id of its profile's host; also where no label was compared
};

struct PlatformQuality {
  std::string id, name;
  int64_t servers_count = 0;  // with runs
  int64_t programs_count = 0;
};

struct EqualPrograms {
  std::string a, b;
  double equal_share = 0;    // of their common runs with equal times
  double typical_ratio = 0;  // median of the absolute log ratio, as a ratio: 0.001 is 0.1%
};

struct OutlierCount {
  std::string name;  // program id or server
  int64_t count = 0;
};

// A time that neither the program's times on other platforms nor the platform's of other programs lead to expect: a
// unit, a typing error, another input, or a program that this platform suits unlike any other.
struct OddTime {
  std::string program, platform;  // ids
  int64_t threads = 0;
  double time_s = kUnknown, expected_s = kUnknown;  // of one unit of work, as runs have it; median of its runs
  double ratio() const { return time_s / expected_s; }
};

struct GroupQuality {
  std::string group;
  int64_t programs_count = 0, excluded_count = 0, families_count = 0, with_profile_count = 0;
  std::string largest_family;
  int64_t largest_family_programs_count = 0;
  double coverage_ratio = 0;  // of (program, platform) pairs that have a time
};

struct QualityCard {
  int64_t sources_count = 0, platforms_count = 0, servers_count = 0, programs_count = 0, runs_count = 0,
          profiles_count = 0;
  std::vector<GroupQuality> groups;
  std::vector<ProgramQuality> programs;
  std::vector<PlatformQuality> platforms;
  int64_t platforms_below_three_servers_count = 0;
  std::vector<NoiseFloor> noise;  // "all" last
  // Duplicates: programs whose times are the same, and servers beyond the first of a platform, whose rates of one
  // worker are near-duplicates of each other.
  std::vector<EqualPrograms> equal_programs;
  int64_t near_duplicate_servers_count = 0;
  // Runs more than kOutlierDeviations robust deviations from their platform's median, where it has kRunsForOutliers.
  int64_t outliers_count = 0, outliers_compared_count = 0;
  std::vector<OutlierCount> outlier_programs, outlier_servers;  // the worst ones
  // The worst ones, and how many times were looked at: those of programs and platforms with kFewestForOdd or more.
  std::vector<OddTime> odd_times;
  int64_t odd_times_count = 0, odd_compared_count = 0;
  std::vector<Exclusion> exclusions;
  std::vector<std::string> profiles_without_runs;
};

inline constexpr double kOutlierDeviations = 6;
inline constexpr size_t kRunsForOutliers = 5;  // of a program on a platform, with one thread count
// An odd time is off by this factor or more, and by kOutlierDeviations of the other times of its program, its platform
// and the whole table.
inline constexpr double kOddRatio = 1.5;
inline constexpr size_t kFewestForOdd = 4;
// A profile that is further than this from its host's label is named.
inline constexpr double kHostLabelRatio = 1.25;

QualityCard check_quality(const Corpus& corpus);

}  // namespace perfcast::program
