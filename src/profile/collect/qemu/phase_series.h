#pragma once
// What a process counted over time, as the QEMU plugin writes it (plugin/README.md, "The phases"): intervals that
// follow one another, each with its own counts and with how many instructions ran in which piece of code.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "profile/metrics/catalogue.h"

namespace perfcast {

struct ProcessTrace;

struct PhaseInterval {
  std::vector<uint64_t> counts;  // by PhaseSeries::keys
  // Instructions (and further iterations of repeated ones) by code_place(), ascending places.
  std::vector<std::pair<uint16_t, uint64_t>> code;
};

struct PhaseSeries {
  std::string program;            // path; not in the file
  double instructions_ratio = 1;  // of all that the run counted, those of this process; not in the file
  size_t processes = 1;           // that wrote a series; not in the file
  std::vector<std::string> keys;  // of the plugin's counts, "instructions" the first
  std::vector<PhaseInterval> intervals;
  std::shared_ptr<const ProcessTrace> trace;  // where the windows were kept, too; not in the file
  double instructions(size_t interval) const { return static_cast<double>(intervals[interval].counts[0]); }
};

// Strict: an unknown version, keys that stand twice, an interval with another number of counts, places out of order and
// a missing end are errors ("bad-phase-series", "future-version").
Result<PhaseSeries> parse_phase_series(std::string_view text_or_bytes, const std::string& source);

// Counters of these intervals together, by catalogue names. What caches, TLBs and branch predictors did is
// scaled from the part that was simulated to all of the interval; absent where nothing was.
MetricValues interval_metrics(const PhaseSeries& series, std::span<const size_t> intervals);

}  // namespace perfcast
