#pragma once
// Clustering, then a model per cluster: k-means (Lloyd, seeded as k-means++) on standardised features, and in each
// cluster a ridge regression towards the cluster's mean. How many clusters, families left out decide.

#include "program/model/attribution/feature_attribution.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class ClusterPredictor : public Predictor, public FeatureAttributor {
 public:
  std::string family() const override { return "cluster"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return model_.means.cols(); }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

  int64_t clusters() const { return model_.centres.rows(); }

 private:
  struct Model {
    Eigen::MatrixXd centres;  // C x K
    Eigen::MatrixXd means;    // C x J
    // Coefficients of a cluster: directions^T * loadings, from its `first` row to the next one's. A ridge regression
    // lies in the span of its rows: a cluster of few programs takes as many directions, one of many takes K.
    Eigen::MatrixXd directions;  // D x K
    Eigen::MatrixXd loadings;    // D x J
    Eigen::VectorXd first;       // C + 1, from 0 to D
  };
  static Model fit_clusters(const Eigen::MatrixXd& rows, const Eigen::MatrixXd& log_rpv, const Eigen::VectorXd& weights,
                            int64_t most_clusters, uint64_t seed);
  static Eigen::MatrixXd forecast(const Model& model, const Eigen::MatrixXd& rows);

  StandardisedInputs inputs_;
  Model model_;
};

}  // namespace perfcast::program
