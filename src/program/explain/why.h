#pragma once
// An attribution in words.

#include <string>
#include <vector>

#include "program/explain/attribution.h"

namespace perfcast::program {

// Events per instruction: "0.312", "4.2 in a thousand", "3.1 in a million", "next to none".
std::string rate_in_words(double per_instruction);

// "more than in 93% of the training programs".
std::string standing_in_words(const FeatureStanding& feature);

// "why: 45% of what sets it apart comes from memory and caches, ...": empty where there is nothing to explain.
// `features`: most unusual first.
std::string why_line(const Attribution& attribution, const std::vector<FeatureStanding>& features);

}  // namespace perfcast::program
