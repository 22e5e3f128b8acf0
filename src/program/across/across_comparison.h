#pragma once
// Results of version A on one machine beside results of version B on another: what the machines alone explain, and
// whether what is left is a change.
//
// A single benchmark is held against the machines' factor. Several of one file share what their machines and their
// program have in common: the median of what is left over says whether all together changed, and each is held against
// the median of the others, which needs no factor at all. Each of the two statements has half of the error. Earlier
// results of A's version on B's CPU model stand for the factor: the expected time is the mean of them and of A's time
// times the factor, by their precisions, so that little but the noise between servers is left.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/compare/result_file.h"
#include "measure/compare/sessions.h"
#include "program/across/machine_factor.h"

namespace perfcast::program {

struct EarlierResult {
  measure::ResultFile file;
  NamedMachine machine;  // of B's CPU model
};

struct AcrossRequest {
  measure::ResultFile a, b;
  MachineFactor factor;
  std::vector<EarlierResult> earlier;  // of A's version; may be empty
  measure::SessionRequest session;     // the error is that of calling anything changed where nothing is
};

// Ratios of B's time over what is expected of A's version on B's machine; logs are natural.
struct AcrossRow {
  std::string name;
  double a_s = 0, b_s = 0;
  double expected_s = 0;  // with what the others have in common, where there are several
  std::array<int64_t, 2> runs{};
  double ratio = 1, lower = 0, upper = 0;  // b_s over expected_s
  measure::CompareVerdict verdict = measure::CompareVerdict::kUnclear;
};

struct AcrossComparison {
  MachineFactor factor;
  measure::ComparedTime time = measure::ComparedTime::kWall;
  double error_ratio = 0.05, threshold_ratio = 0;
  double measured_ratio = 1;  // B over A, the median over benchmarks
  // Of B over A where nothing changed, with 1 - error_ratio: the machines alone, by the factor or earlier results.
  double expected_ratio = 1, expected_lower = 0, expected_upper = 0;
  double ratio = 1, lower = 0, upper = 0;                               // what is left over, of the median benchmark
  measure::CompareVerdict verdict = measure::CompareVerdict::kUnclear;  // of that
  size_t earlier = 0;                                                   // results that were used
  double deviation_log = 0;     // of what is expected of one benchmark, all in all
  double apart_log = 0;         // by how much benchmarks differ from each other, one standard deviation; several alone
  std::vector<AcrossRow> rows;  // in A's order
  std::array<std::vector<std::string>, 2> unmatched;
  std::vector<std::string> notes;

  bool has_several() const { return rows.size() > 1; }
  // All together, or one of the rows.
  bool any(measure::CompareVerdict verdict) const;
  // The first that holds of all together or one of the rows: slower, faster, unclear; else all together's.
  measure::CompareVerdict overall() const;
};

// A benchmark that keeps more CPUs busy is left out of wall times: how many cores the machines have is not in the
// factor.
inline constexpr double kMostBusyCpus = 1.5;

// Errors: those of measure::compare_sessions(); "no-results" where no benchmark is left; "bad-usage" for earlier
// results of another CPU model than B's.
Result<AcrossComparison> compare_across(const AcrossRequest& request);

}  // namespace perfcast::program
