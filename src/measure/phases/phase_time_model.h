#pragma once
// Time of phases from what they do: linear in their costs per instruction, no coefficient below 0 (more work never
// takes less time), few of them (a lasso), and fitted anew for each phase with examples that resemble it in front: as
// LACross does (Zheng, John and Gerstlauer, "Accurate Phase-Level Cross-Platform Power and Performance Estimation", DAC
// 2016).

#include <Eigen/Core>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/phases/phase_costs.h"

namespace perfcast::measure {

// Relative errors count: a phase of 0.2 ns an instruction as much as one of 2 ns; each program as much as any other.
class PhaseTimeModel {
 public:
  struct Settings {
    double penalty_ratio = 0.003;  // of the smallest penalty at which nothing is left
    double locality = 0;           // 0: all examples alike; else width of the neighbourhood in median distances
    bool few = false;              // instructions and modelled cycles alone
  };

  // Settings by leaving programs of the examples out, one after another. Error "too-few-phases" below three programs.
  static Result<PhaseTimeModel> fit(std::vector<PhaseExample> examples);
  // The same, with what such a fit says of each program that it doesn't see: left_out().
  static Result<PhaseTimeModel> fit_with_errors(std::vector<PhaseExample> examples, int threads);

  double ns_per_instruction(const Eigen::VectorXd& costs) const;
  const Settings& settings() const { return settings_; }
  const std::vector<PhaseExample>& examples() const { return examples_; }
  // Of each program of the examples, forecast by a model of the others whose settings were chosen without it, too (of
  // more than forty programs: with it; one more hardly tips the choice there).
  struct LeftOut {
    double error = 0;          // |forecast / measured - 1| of its phases, by their share of its time
    std::vector<double> logs;  // of each phase, log(measured / forecast)
  };
  const std::vector<LeftOut>& left_out() const { return left_out_; }
  // Time per instruction of all examples together, each program alike: what is said where nothing is known.
  double mean_ns_per_instruction() const { return mean_; }

 private:
  PhaseTimeModel(std::vector<PhaseExample> examples, Settings settings);
  static Settings chosen_for(const std::vector<PhaseExample>& examples);
  static LeftOut forecast_of(const std::vector<PhaseExample>& examples, const std::string& program,
                             const Settings& settings);

  std::vector<LeftOut> left_out_;
  std::vector<PhaseExample> examples_;
  Settings settings_;
  Eigen::MatrixXd costs_, places_;  // examples x costs: over their scales; as they are compared
  Eigen::VectorXd scales_, times_, weights_;
  Eigen::VectorXd known_;  // 1 for costs that all examples have, else 0
  double median_distance_ = 1, mean_ = 0, least_ = 0;
};

}  // namespace perfcast::measure
