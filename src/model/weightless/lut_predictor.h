#pragma once
// Weightless networks on the leading principal components of the training programs' relative times: each table's bit
// adds a number to each component. Several networks of different seeds are averaged.

#include "model/fit/leading_components.h"
#include "model/fit/standardised_inputs.h"
#include "model/predictor.h"
#include "weightless/lut_trainer.h"
#include "weightless/packed_network.h"

namespace perfcast {

// Small tables learn from few programs: 4 bits were chosen, of 2 to 6, and averages of 8 networks, on the compressors
// of the cloud corpus alone (families left out in turn).
struct LutPredictorOptions {
  LutTrainingOptions training = {.levels = 8, .luts = {256}, .arity = 4, .epochs = 60, .batch = 32, .decay_epochs = 25};
  int64_t networks = 8;
};

class LutPredictor : public Predictor {
 public:
  explicit LutPredictor(LutPredictorOptions options = {}) : options_(std::move(options)) {}

  std::string family() const override { return "dwn"; }
  Json settings() const override;  // perfcast.dwn/1
  Status configure(const Json& settings, const std::string& source) override;
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  Prediction predict_with_disagreement(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return components_.mean.size(); }
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  Eigen::MatrixXd forecasts_of(size_t network, const Eigen::MatrixXd& rows) const;

  LutPredictorOptions options_;
  StandardisedInputs inputs_;
  LeadingComponents components_;
  std::vector<LutNetwork> networks_;
  std::vector<PackedLutNetwork> packed_;
};

}  // namespace perfcast
