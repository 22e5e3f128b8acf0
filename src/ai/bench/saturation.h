#pragma once
// Whether a system keeps up with its load, from the times of one run and of the run before it.

#include <cstdint>
#include <optional>
#include <string>

#include "ai/load/load_result.h"

namespace perfcast::ai {

// The requests that are unanswered at once, in the mean of the second and of the last quarter of the time in which
// requests came.
struct QueueTrend {
  double early = 0, late = 0;
  double behind_share = 0;  // of the requests of the second half: unanswered ones that came on top
  // Grows by more than what chance gives, and by more than a twentieth of what was sent.
  bool grows() const;
  // Answers take so long beside the run that its queue would grow in any case.
  bool is_too_short = false;
};
// Of a run whose settings keep when samples were due; absent where too few were answered.
std::optional<QueueTrend> queue_trend(const LoadResult& result);

// Answers per second while requests came: unlike the rates of a summary without the time in which the last answers
// come. Of clients that asked fewer than twice each it is all answers by all of the time.
double answers_per_s(const LoadResult& result);

// Whether throughput still grows: d log(rate) / d log(load) below it is none.
inline constexpr double kLeastGrowth = 0.1;
bool has_grown(double load_before, double rate_before, double load, double rate);

}  // namespace perfcast::ai
