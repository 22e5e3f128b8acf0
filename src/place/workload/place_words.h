#pragma once
// Amounts and rows in words.

#include <string>

#include "place/workload/placement.h"

namespace perfcast::place {

// "345 ms", "389 J", "0.822 USD per 1000 runs".
std::string amount_in_words(double value, PlaceMeasure measure, const std::string& currency);

// Of the rows that fit and break a limit, the one that is nearest to the limits, by the largest factor that it is
// above one: "Nearest to the limits is NVIDIA H100 NVL (gpu): 865 ms, the limit is 1.00 ms." Empty where no row has
// all that the limits are about.
std::string nearest_miss_in_words(const PlacementWishes& wishes, const Placement& placement);

}  // namespace perfcast::place
