#pragma once
// Kernels of GPU and OpenCL programs: what device_costs.h says, and what another family learns of the same profiles, as
// a weighted mean of log relative times. Of a profile without what device_costs.h needs, the other family alone. Unlike
// others it says absolute times, too.

#include <memory>
#include <string>
#include <vector>

#include "program/model/gpu/device_costs.h"
#include "program/model/predictor.h"

namespace perfcast::program {

// Before the name of the other family: "kernels:forest".
inline constexpr std::string_view kOfKernels = "kernels:";

class KernelTimePredictor : public Predictor {
 public:
  explicit KernelTimePredictor(std::unique_ptr<Predictor> rest);

  std::string family() const override;
  Json settings() const override;
  Status configure(const Json& settings, const std::string& source) override;
  // "no-kernels" where no profile says what a kernel does.
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  Prediction predict_with_disagreement(const std::vector<const Profile*>& profiles) const override;
  Eigen::MatrixXd prior_on(const std::vector<Platform>& platforms,
                           const std::vector<const Profile*>& profiles) const override;
  Eigen::MatrixXd prior_of_training(const std::vector<Platform>& platforms) const override;
  int64_t outputs() const override { return costs_.devices(); }
  const DeviceCosts& costs() const { return costs_; }
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  std::unique_ptr<Predictor> rest_;
  DeviceCosts costs_;
  Eigen::MatrixXd training_works_;  // [P x kWorkColumns], zeros: of a profile that doesn't say
};

}  // namespace perfcast::program
