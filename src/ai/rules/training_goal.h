#pragma once
// What a training benchmark of the field asks for, and what was given in its place.

#include <optional>
#include <string>
#include <vector>

#include "ai/rules/bench_rules.h"
#include "base/result.h"

namespace perfcast::ai {

struct TrainingGiven {  // empty: the table's
  std::string metric;
  std::optional<double> threshold;
  bool lower_is_better = false;
};

struct TrainingGoal {
  std::string benchmark, quality;   // "retinanet"; "34.0% mAP, RetinaNet on Open Images, v4.1"
  std::string metric;               // empty: the table has none, and none was given
  std::optional<double> threshold;  // likewise
  bool lower_is_better = false;
  // What was given in place of the table's, and what of the quality isn't held.
  std::vector<std::string> notes;
};

// "bad-usage" at --benchmark, with all names, where there is none such.
Result<TrainingGoal> training_goal_of(const BenchRules& rules, const std::string& benchmark,
                                      const TrainingGiven& given);

// Of a goal that is a share of 1 and a metric that is the better the larger: whether an evaluation above 1 was printed,
// in percent then, which every threshold below 1 is met by. What to say; empty: nothing.
std::string percent_note(const TrainingGoal& goal, double largest_evaluation);

}  // namespace perfcast::ai
