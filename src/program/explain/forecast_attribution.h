#pragma once
// A forecast taken apart input by input: what moves it on one platform, and what sets two platforms apart. All of it is
// of the model's own forecast, before any measured time improves it.

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "program/model/attribution/feature_attribution.h"
#include "program/model/bundle/bundle.h"
#include "program/model/predictor.h"

namespace perfcast::program {

// An input of the model, with what the program and the typical one have of it.
struct AttributedInput {
  std::string feature;            // as ModelInputs::names() has it
  std::string group;              // of the catalogue
  std::string text;               // for people
  std::string unit;               // of the two values: "share of time", "per instruction", ...; empty where it has none
  double value = 0, typical = 0;  // NaN: absent
};

struct ForecastAttribution {
  std::vector<AttributedInput> inputs;  // F; empty where groups alone can be told
  Eigen::MatrixXd log;                  // F x J: what each adds to log RPV
  std::vector<std::string> groups;      // G, of the catalogue
  Eigen::MatrixXd group_log;            // G x J
  Eigen::VectorXd baseline_log;         // J: log RPV of the typical program
  Eigen::VectorXd forecast_log;         // J: log RPV of this program
  double residue_log = 0;               // largest of |baseline + sum - forecast|
  std::vector<AttributedPart> parts;    // of the model; empty where groups alone can be told
};

// Against the typical training program (`typical_per_instruction`; where models see plain counters, each at its
// training mean). Where the predictor does not tell what its inputs add: exact Shapley values of the groups of metrics,
// as attribute(). "bad-profile" without an instruction count, and errors of attribute_features().
Result<ForecastAttribution> attribute_forecast(const Predictor& predictor, const ModelInputs& model_inputs,
                                               const MetricValues& typical_per_instruction, const Profile& profile);
Result<ForecastAttribution> attribute_forecast(const Bundle& bundle, const Profile& profile);

// What an input, or a group of them, adds to the program's log time on a platform.
struct SpreadEffect {
  std::string name;  // of the input or the group
  std::string group;
  std::string text;  // for people
  double log = 0;
};

// log RPV on a platform against the mean over the platforms, or minus that on another.
struct Spread {
  double log = 0;                            // of this program
  double baseline_log = 0;                   // of a typical program; the rest is what the effects come to
  std::vector<SpreadEffect> inputs, groups;  // largest first, whichever its sign
};

// `against`: a platform's index; -1: the mean over all platforms.
Spread spread_of(const ForecastAttribution& attribution, int64_t platform, int64_t against = -1);

// Of all inputs that tell of any of the metrics, together: what a finding about those counters comes to there. `text`:
// what they are to people. Inputs that tell of several findings count in each.
SpreadEffect effect_of(const Spread& spread, const std::string& text, const std::vector<std::string>& metrics);

// "forest: TreeSHAP, exact; physics, cores: additive, exact; sums are within 2e-15 of the forecast".
std::string method_in_words(const ForecastAttribution& attribution);
std::string method_name(AttributionMethod method);  // "tree-shap", "additive", "integrated-gradients", "group-shapley"

// "on AMD EPYC 9654 it loses 18% to branch behaviour and gains 5% from memory and caches": the groups' effects of at
// least `least_ratio`, at most `most` of them, largest first; empty where there are none.
std::string spread_line(const Spread& spread, const std::string& platform, double least_ratio = 0.02, size_t most = 3);

}  // namespace perfcast::program
