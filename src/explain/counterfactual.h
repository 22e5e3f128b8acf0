#pragma once
// What would have to be otherwise: which counter of a program, changed by how much and alone, moves its forecast. By
// the model: no promise that a program can be changed so, nor that its other counters would stay.

#include <cstdint>
#include <string>
#include <vector>

#include "corpus/profile.h"
#include "model/predictor.h"

namespace perfcast {

struct CounterfactualRequest {
  int64_t platform = 0;      // whose relative time is to move
  int64_t against = -1;      // relative to this platform; -1: to the mean over the platforms
  double time_ratio = 0.9;   // of the relative time after the change to that before; not 1
  double most_factor = 128;  // a counter is changed by this at most, up or down, or to 0
  // Of the catalogue; empty: those that models' inputs are made of, without the cycles of core models.
  std::vector<std::string> metrics = {};
};

struct Counterfactual {
  std::string metric;
  std::string text;              // for people
  double factor = 1;             // of the counter
  double before = 0, after = 0;  // per instruction
  double time_ratio = 1;         // reached: beyond what was asked for where the model jumps
};

// For each metric that can do it alone the smallest change that does, those that need the least first. Counters don't
// go beyond one per instruction. Empty without an instruction count.
std::vector<Counterfactual> counterfactuals(const Predictor& predictor, const Profile& profile,
                                            const CounterfactualRequest& request);

// "branch mispredictions per instruction 0.0042 to 0.0021 (x0.50)".
std::string counterfactual_in_words(const Counterfactual& found);

}  // namespace perfcast
