#pragma once
// A dense network from a program's features to log RPV on all platforms: three hidden layers of 1024.

#include "learn/neural/dense_network.h"
#include "program/model/attribution/feature_attribution.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/fit/targets.h"
#include "program/model/predictor.h"

namespace perfcast::program {

struct DenseOptions {
  std::vector<int64_t> hidden = {1024, 1024, 1024};
  int64_t most_epochs = 120;  // each the whole table
  int64_t patience = 20;      // epochs without a better inner validation
  float learning_rate = 3e-4f;
  float weight_decay = 1.0f;

  // From `many_rows` on, where each platform profiled every program: batches, and so many more steps, with a rate that
  // falls to 0 as half a cosine.
  int64_t many_rows = 512;
  int64_t batch = 64;
  int64_t epochs_of_many = 200;
  float learning_rate_of_many = 1e-3f;
  float weight_decay_of_many = 1e-2f;
};

class DensePredictor : public Predictor, public FeatureAttributor {
 public:
  DensePredictor() = default;
  explicit DensePredictor(const DenseOptions& options) : options_(options) {}

  std::string family() const override { return "dnn"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return mean_.size(); }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

  int64_t epochs() const { return epochs_; }

 private:
  Result<int64_t> choose_epochs(const RowMatrixF& rows, const Targets& targets, const Eigen::MatrixXd& centred,
                                uint64_t seed) const;
  Result<DenseNetwork> train(const TrainingBatch& batch, int64_t epochs, uint64_t seed) const;
  Result<DenseNetwork> train_in_batches(const TrainingBatch& all, uint64_t seed) const;

  DenseOptions options_;
  StandardisedInputs inputs_;
  Eigen::VectorXd mean_;  // J
  PackedNetwork network_;
  int64_t epochs_ = 0;
};

}  // namespace perfcast::program
