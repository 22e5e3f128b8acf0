#pragma once
// What each input of a model adds to its forecast of a program, against that of a reference program:
//   log RPV of the program = log RPV of the reference + sum over the inputs of what each adds, on every platform.
//
// One reference for all families, so that what a combination of them says is the same combination of what its parts
// say, and their sums stay exact. What "adds" means is each method's own; all of them give an input that does not
// matter 0, and share out all that there is.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace perfcast::program {

class Predictor;
class StandardisedInputs;

enum class AttributionMethod : uint8_t {
  kAdditive,             // of a sum, or of its logarithm: in closed form (sum_attribution.h)
  kTreeShap,             // Shapley values of trees, over all subsets of inputs (tree_shapley.h)
  kIntegratedGradients,  // Aumann-Shapley values along the straight line (line_attribution.h, network_attribution.h)
  kGroups,               // Shapley values of groups of inputs; within a group by drawn orders (group_shapley.h)
};

// A model that attributions were made of.
struct AttributedPart {
  std::string family;
  AttributionMethod method = AttributionMethod::kAdditive;
  double residue_log = 0;  // farthest that the sums are from the part's own forecast
};

struct FeatureAttribution {
  std::vector<std::string> features;  // F, as ModelInputs::names() has them
  Eigen::MatrixXd log;                // F x J: what each adds to log RPV
  Eigen::VectorXd baseline_log;       // J: log RPV of the reference
  Eigen::VectorXd forecast_log;       // J: log RPV of the program
  std::vector<AttributedPart> parts;  // of a family of one part: itself
  double residue_log = 0;             // largest of |baseline + sum - forecast|, in double
};

struct AttributionRequest {
  const Profile* profile = nullptr;
  const Profile* reference = nullptr;
  // Inputs of the same name belong together where a method takes groups; empty: each kind of input ("share_", "rate_").
  std::function<std::string(const std::string& feature)> group_of = nullptr;
  uint64_t seed = 1;  // of drawn orders
};

// What a family implements that knows how its forecasts come about.
class FeatureAttributor {
 public:
  virtual ~FeatureAttributor() = default;
  // Of fitted models. "bad-bundle" where a tree is none.
  virtual Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const = 0;
};

// The farthest that sums may be from forecasts.
inline constexpr double kMostResidueLog = 1e-6;

// Of any predictor, with its sums checked against predict(). "no-attribution": the family has none;
// "attribution-incomplete": sums that are farther than kMostResidueLog from the forecast.
Result<FeatureAttribution> attribute_features(const Predictor& predictor, const AttributionRequest& request);

// The program's row of standardised inputs and the reference's, [1 x F] each.
struct AttributedRows {
  Eigen::RowVectorXd own, reference;
};
AttributedRows attributed_rows(const StandardisedInputs& inputs, const AttributionRequest& request);

// Of a family of one part, whose forecasts are taken from predict().
FeatureAttribution attribution_of(const Predictor& predictor, const AttributionRequest& request,
                                  AttributionMethod method, std::vector<std::string> features, Eigen::MatrixXd log);

// The sum of several, inputs of one name taken together; each is multiplied by `weight`.
FeatureAttribution sum_of(const std::vector<FeatureAttribution>& parts, double weight);

// Rows about 0: forecasts are about their mean over the platforms, and so is what adds to them.
Eigen::MatrixXd centred_over_platforms(Eigen::MatrixXd log);

}  // namespace perfcast::program
