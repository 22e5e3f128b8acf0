#pragma once
// Words that the text and the page of a diagnosis share.

#include <string>

#include "measure/diagnose/find/finding.h"
#include "measure/diagnose/observe/observation.h"

namespace perfcast::measure {

inline constexpr double kGainShown = 0.02;  // findings below it are of no use to anybody

// "7.3%", "24%".
std::string percent_words(double ratio);
// "18% of the time, proven (6.9% .. 30%): the allocator jemalloc", or "about 24% of the time, measured".
std::string gain_in_words(const Finding& finding);
// What helped in the few runs that there was time for; null: nothing.
const ExperimentResult* most_promising(const Finding& finding);
// What came of an experiment, with how it is had.
std::string experiment_in_words(const ExperimentResult& result);
// Whether there is something to be gained, or an experiment says so, or may, or something was built.
bool is_worth_showing(const Finding& finding);
std::string row_in_words(const TimelineRow& row, const Observation& seen);
// "user code", "waiting: a socket", ...: without the function.
std::string doing_in_words(const ThreadSpan& span);

}  // namespace perfcast::measure
