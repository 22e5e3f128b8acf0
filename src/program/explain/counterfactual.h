#pragma once
// What would have to be otherwise: which counter of a program, changed by how much and alone, moves its forecast. By
// the model: no promise that a program can be changed so, nor that its other counters would stay.

#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "program/model/predictor.h"

namespace perfcast::program {

// What is changed together, by one factor: one counter, or those that count one thing in several ways, as misses of
// caches of ten sizes do. A model that sees all of them believes no change of one.
struct MetricCause {
  std::string name;                  // of a single metric its own
  std::string text;                  // for people
  std::vector<std::string> metrics;  // of the catalogue
};

// Of those metrics that models' inputs are made of and that the profile has above 0: first what goes together ("branch
// mispredictions", "cache misses", ...), then each by itself. Cycles of core models, which no program has, are left
// out.
std::vector<MetricCause> causes_in(const Profile& profile);

struct CounterfactualRequest {
  int64_t platform = 0;                  // whose relative time is to move
  int64_t against = -1;                  // relative to this platform; -1: to the mean over the platforms
  double time_ratio = 0.9;               // of the relative time after the change to that before; not 1
  double most_factor = 128;              // counters are changed by this at most, up or down, or to 0
  std::vector<MetricCause> causes = {};  // empty: causes_in(profile)
};

struct Counterfactual {
  MetricCause cause;
  bool reaches = false;          // as far as was asked for; else the farthest that it gets
  double factor = 1;             // of the counters
  double before = 0, after = 0;  // per instruction, of a cause of one metric
  double time_ratio = 1;         // beyond what was asked for where the model jumps
};

// Of each cause the smallest change that moves the forecast by what was asked for, those that need the least first;
// then those that can't, the farthest first, without those that move nothing. Counters don't go beyond one per
// instruction. Empty without an instruction count.
std::vector<Counterfactual> counterfactuals(const Predictor& predictor, const Profile& profile,
                                            const CounterfactualRequest& request);

// "branch mispredictions x0.50: relative time x0.90", "memory reads per instruction 0.400 to 0.201 (x0.50): relative
// time x0.90"; of one that does not reach: "..., no farther".
std::string counterfactual_in_words(const Counterfactual& found);

}  // namespace perfcast::program
