#pragma once
// Why a forecast is as it is: which kinds of counters move it away from the forecast of a typical program.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "program/model/predictor.h"

namespace perfcast::program {

struct GroupEffect {
  std::string group;    // of the catalogue: "mix", "memory", "latency", "branch", "system", "time"
  double share = 0;     // of the deviation, all groups add up to 1; below 0 where it works against the others
  Eigen::VectorXd log;  // J: what it adds to the log relative time on each platform
};

struct Attribution {
  Eigen::VectorXd deviation_log;    // J: this program's forecast minus the typical program's
  std::vector<GroupEffect> groups;  // largest share first
};

// Exact Shapley values over the groups of metrics that features are made of: every subset of groups takes the program's
// own counters, the others a typical program's per instruction. 2^groups forecasts in one call. Without instructions,
// or where the forecast does not deviate, there are no groups.
Attribution attribute(const Predictor& predictor, const Profile& profile, const MetricValues& typical_per_instruction);

// Where one feature of a program stands among the training programs.
struct FeatureStanding {
  std::string feature;     // as ModelInputs::names() has it
  std::string group;       // of the catalogue
  std::string text;        // for people
  double percentile = 50;  // share of the training programs below it, ties counted half; 0 to 100
  double deviations = 0;   // robust deviations from the training median
};

// Features that the program has, farthest from the training programs first. training: [programs x names.size()].
std::vector<FeatureStanding> standings(const Eigen::RowVectorXd& features, const Eigen::MatrixXd& training,
                                       const std::vector<std::string>& names);

// Catalogue group of a feature ("memory" for "share_l2_hit", "rate_loads"), and its meaning for people.
std::string group_of_feature(const std::string& name);
std::string describe_feature(const std::string& name);

// "branch behaviour", "memory and caches", ...
std::string describe_group(const std::string& group);

}  // namespace perfcast::program
