#pragma once
// Gradient-boosted trees: grown by XGBoost, kept as plain arrays. Predicting, saving and loading need no library.

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast {

struct BoostOptions {
  int64_t rounds = 120;
  int64_t depth = 3;
  double learning_rate = 0.06;
  double row_share = 0.8;
  double column_share = 0.4;
  double ridge = 2;
  uint64_t seed = 1;
  int threads = 1;
};

class BoostedTrees {
 public:
  // rows [P x F] without gaps, one target and one weight each. "xgboost-failed" with the library's words; also where
  // the trees as read from it don't predict what it predicts.
  static Result<BoostedTrees> fit(const Eigen::MatrixXd& rows, const Eigen::VectorXd& target,
                                  const Eigen::VectorXd& weights, const BoostOptions& options);

  double predict(std::span<const float> row) const;

  // What each input adds to predict(own) against predict(reference), exactly. False where the nodes make no trees.
  bool shapley(std::span<const float> own, std::span<const float> reference, Eigen::Ref<Eigen::VectorXd> result) const;

  Eigen::MatrixXf to_tensor() const;
  // "bad-bundle" where a node points outside or in a circle, or tests a feature that isn't there.
  static Result<BoostedTrees> from_tensor(const Eigen::MatrixXf& tensor, int64_t features);

 private:
  struct Node {
    int32_t feature = -1;  // -1: leaf
    float value = 0;       // feature < value goes left; a leaf's output
    int32_t left = 0, right = 0;
  };
  static Result<BoostedTrees> from_json(const std::string& model, int64_t features);

  std::vector<Node> nodes_;
  std::vector<int32_t> roots_;
};

}  // namespace perfcast
