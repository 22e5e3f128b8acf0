#pragma once
// How much longer a copy of a program takes when many run on one server, as a bundle keeps it. See scaling_fit.h for
// how it is learned, docs/instances.md for how it can be wrong.

#include <Eigen/Core>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/model/scaling/scaling_fit.h"

namespace perfcast {
class TensorMap;
}  // namespace perfcast

namespace perfcast::program {

// Log width of a 90% interval by what makes slowdowns uncertain; learned from programs whose family was left out.
struct ScalingIntervals {
  Eigen::VectorXd coefficients;  // of width_features()
  double quantile = 0;
  double half_width(const Eigen::VectorXd& features) const;
};
// Constant, share of kernel time, log slowdown, log2 of copies, bandwidth asked for, whether vCPUs float.
Eigen::VectorXd width_features(const CopiesOnMachine& copies, double log_slowdown);

// log_error [programs x machines], NaN where there is none; features of each.
struct ScalingErrors {
  Eigen::MatrixXd log_error;
  std::vector<Eigen::MatrixXd> features;  // of each program: [machines x features]
};
// Fitted on all programs but those of a family.
ScalingIntervals fit_intervals(const ScalingFit& fit, const ScalingErrors& errors, double coverage,
                               const std::string& without_family = "");

struct CopiesForecast {
  double log_slowdown = 0;  // of a copy among `copies`, against one alone as its CPU model usually takes
  double half_width = 0;    // of its interval, log; the one-copy time's own comes on top
};

class ScalingModel {
 public:
  // `coverage`: of intervals. Deterministic.
  Status fit(const ScalingFit& fit, double coverage);
  // With intervals from elsewhere.
  void fit(const ScalingFit& fit, ScalingIntervals intervals);

  // `time_s`: seconds of one copy per unit of the load's work on a platform; NaN where unknown. `machines`: such as the
  // model was fitted on.
  ProgramKey key_of(const ProgramLoad& load, const std::vector<MachineFacts>& machines,
                    const std::function<double(const std::string& platform)>& time_s) const;

  // Between one copy (0: alone) and as many as the server is filled with, which is all that was measured, what physics
  // leaves is taken to grow with the logarithm of the copies.
  CopiesForecast forecast(const ProgramKey& program, const CopiesOnMachine& copies) const;
  // Whether servers of its class, or of like ones, were measured with many copies.
  bool knows(const MachineFacts& machine) const { return columns_.contains(machine_class(machine)); }

  void save(TensorMap& tensors) const;
  Status load(const TensorMap& tensors);  // "bad-bundle"

 private:
  Eigen::VectorXd kernels(const ProgramKernel& kernel, const ProgramKey& program) const;

  Eigen::VectorXd costs_;
  Eigen::VectorXd mean_, deviation_;                      // of signatures
  std::vector<ProgramKey> keys_;                          // of the programs learned from
  std::map<std::string, Eigen::Index> columns_;           // by class of servers
  Eigen::MatrixXd slowdown_weights_, departure_weights_;  // [programs x classes]
  // What servers with runs have beyond their class, in few directions: left [programs x r], right [r x servers].
  std::map<std::string, Eigen::Index> servers_;  // by server_key()
  Eigen::MatrixXd own_slowdown_left_, own_slowdown_right_, own_departure_left_, own_departure_right_;
  ScalingIntervals intervals_;
};

// What was learned of classes with runs, for classes of any servers: those of `machines`, in order. [programs x
// classes]
Eigen::MatrixXd smoothed_weights(const ScalingFit& fit, const Eigen::MatrixXd& slowdown_weights,
                                 const std::vector<MachineFacts>& machines);

// Log time of a copy, everything fitted without the program's family: of the known one-copy time of the CPU model, and
// what each of its machines' departures add. Rows of programs that are none of the family stay NaN.
struct LeftOutForecast {
  Eigen::MatrixXd log_slowdown, log_departure;  // [programs x machines]
};
LeftOutForecast forecast_without_family(const ScalingFit& fit, const std::string& family);
// Likewise without its CPU model: from the facts of servers alone.
LeftOutForecast forecast_without_family_and_platforms(const ScalingFit& fit, const std::string& family);

// For all families: log_slowdown with or without departures against what was measured.
ScalingErrors errors_of(const ScalingFit& fit, const LeftOutForecast& forecast, bool with_departures);

}  // namespace perfcast::program
