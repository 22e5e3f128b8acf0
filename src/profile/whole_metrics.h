#pragma once
// Of a run that was counted for a part: which numbers hold for all of it. Ratios of two counts do, as far as the rest
// is like the part; counts don't where nobody knows how much there is of the rest.

#include "profile/profile.h"

namespace perfcast {

// Less of the work than this does not tell the ratios of all of it.
inline constexpr double kShareWithRatios = 0.5;

// Of metrics whose counts were stretched from a part that is this share of the work: what holds for all of it (what was
// not counted, and from kShareWithRatios on ratios of counts), and what was counted (the counts alone, of the part).
struct WholeAndPart {
  MetricValues whole, part;
};
WholeAndPart split_by_part(const MetricValues& metrics, double seen_ratio);

// The opposite: counts are stretched again, and what follows from them is derived.
MetricValues join_with_part(const MetricValues& whole, const MetricValues& part, double seen_ratio);

// Of a profile, for people and files: all metrics, but those of a part whose share of the whole is not known.
bool knows_whole_counts(const Profile& profile);
MetricValues whole_metrics(const Profile& profile);

inline constexpr const char* kNoWholeCounts =
    "the instrumented run was ended early: how much all of it is, is not known";

}  // namespace perfcast
