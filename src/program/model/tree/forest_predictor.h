#pragma once
// Extremely randomised trees (Geurts, Ernst & Wehenkel 2006) with all platforms as outputs of one forest. A forecast is
// a weighted mean of training programs: the weights are how often a program shares a leaf with the new one.

#include <cstdint>
#include <span>
#include <string_view>

#include "program/model/attribution/feature_attribution.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/predictor.h"

namespace perfcast::program {

struct ForestOptions {
  int64_t trees = 400;
  double feature_share = 1.0 / 3;  // tried at every split of the features of work, many of which say the same
  double counter_share = 1;        // of plain counters, a few of which identify a program
  int64_t many_rows = 1000;        // from which `trees_of_many` are enough
  int64_t trees_of_many = 100;
};

class ForestPredictor : public Predictor, public FeatureAttributor {
 public:
  ForestPredictor() = default;
  explicit ForestPredictor(const ForestOptions& options) : options_(options) {}

  std::string family() const override { return "forest"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return log_rpv_.cols(); }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

  // [profiles x P] weights of the training programs; rows sum to 1.
  Eigen::MatrixXd program_weights(const std::vector<const Profile*>& profiles) const;

 private:
  friend class TreeGrower;
  struct Node {
    int32_t feature = -1;  // -1: leaf
    float threshold = 0;   // feature <= threshold goes to `next`, others to `next` + 1
    int32_t next = 0;      // leaf: first of its entries in leaf_programs_
    int32_t count = 0;     // leaf: how many
  };
  void add_leaf(std::span<const int32_t> members);
  Status add_inner(int64_t feature, float threshold, int64_t children, int64_t nodes);
  Status unpack(std::string_view bytes);
  Status load_floats(const TensorMap& tensors);

  ForestOptions options_;
  StandardisedInputs inputs_;
  std::vector<Node> nodes_;
  std::vector<int32_t> roots_;
  std::vector<int32_t> leaf_programs_;
  std::vector<float> leaf_weights_;   // beside leaf_programs_; a leaf's sum is 1
  Eigen::VectorXd training_weights_;  // of the programs
  Eigen::MatrixXd log_rpv_;           // P x J
};

}  // namespace perfcast::program
