#pragma once
// A rival for new devices: a network of one hidden layer whose starting point is meta-learnt on the known ones by
// Reptile (Nichol, Achiam & Schulman 2018), so that a few steps on a new device's samples suit it.
// In double, with tanh and plain steps: learn/neural has rectified networks in float, trained by Adam.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "measure/power/model/power_form.h"

namespace perfcast::measure::power_study {

class MetaNetwork {
 public:
  // Rows of `known` are of several groups.
  static MetaNetwork learn(const PowerSamples& samples, const std::vector<size_t>& known, uint64_t seed);

  // Watts of `rows` after steps on `given`, which may be none.
  Eigen::VectorXd forecast(const PowerSamples& samples, const std::vector<size_t>& given,
                           const std::vector<size_t>& rows) const;

 private:
  struct Weights {
    Eigen::MatrixXd hidden;  // [H x K], K with the ones
    Eigen::VectorXd out;     // [H]
    double offset = 0;
  };
  // One step down the squared error of these rows.
  static void step(const PowerSamples& samples, const std::vector<size_t>& rows, double rate, Weights& weights);
  static Eigen::VectorXd outputs(const PowerSamples& samples, const std::vector<size_t>& rows, const Weights& weights);

  Weights start_;
};

}  // namespace perfcast::measure::power_study
