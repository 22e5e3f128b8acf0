#pragma once
// How copies slow each other, fitted: physics (slowdown_columns.h) by non-negative least squares of relative errors,
// each program family alike; what physics leaves of a program, by kriging from programs of like signature on the same
// server; smoothed over classes of servers that are alike. And how a server's times of one copy depart from its CPU
// model's, by those of other programs on it.
//
// The variances of the kernels and what counts as a server's own were chosen on families left out of the public set,
// with its scores in sight.

#include <Eigen/Core>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "program/model/scaling/scaling_table.h"
#include "program/model/scaling/slowdown_columns.h"

namespace perfcast::program {

// What tells programs apart for kriging: a program that is none of the table's has no group and no family.
struct ProgramKey {
  Eigen::VectorXd signature;  // standardised
  std::string group, family;
  bool fills_cores = false;  // a copy on each core, never two
};

// Variances of log slowdown that programs share.
struct ProgramKernel {
  double all, kind, group, alike, length, family, noise;
  double operator()(const ProgramKey& a, const ProgramKey& b) const;
};
extern const ProgramKernel kSlowdownKernel, kDepartureKernel;

// Of two classes of servers, by a machine of each.
double class_kernel(const MachineFacts& a, const MachineFacts& b);
inline constexpr double kClassVariance = 0.0005, kServerVariance = 0.008;
// Of what a server's programs say beyond its class, the part that is the server and no accident.
inline constexpr double kOwnSlowdown = 0.8, kOwnDeparture = 0.8;
inline constexpr double kLeastSlowdown = 0.5;

class ScalingFit {
 public:
  explicit ScalingFit(ScalingTable table);

  const ScalingTable& table() const { return table_; }
  bool is_measured(Eigen::Index program, Eigen::Index machine) const { return measured_(program, machine); }
  // log(time of a copy when all run / alone), of the server's own; NaN where not measured.
  const Eigen::MatrixXd& log_slowdown() const { return log_slowdown_; }
  const std::vector<std::string>& faulty() const { return faulty_; }  // servers left out, "vendor/name"

  // Costs of the columns, without a program family or a platform.
  Eigen::VectorXd costs(const std::string& without_family = "", const std::string& without_platform = "") const;
  double log_physics(Eigen::Index program, Eigen::Index machine, const Eigen::VectorXd& costs) const;

  const std::vector<ProgramKey>& keys() const { return keys_; }
  const Eigen::VectorXd& signature_mean() const { return mean_; }
  const Eigen::VectorXd& signature_deviation() const { return deviation_; }

  // [programs x machines]: kernel(program, .)' weights.col(machine) is what physics leaves of another program there;
  // 0 for programs of the family that is left out.
  Eigen::MatrixXd slowdown_weights(const Eigen::VectorXd& costs, const std::string& without_family = "") const;
  Eigen::MatrixXd departure_weights(const std::string& without_family = "") const;
  // log(alone on the server / alone on its CPU model), NaN where unknown.
  const Eigen::MatrixXd& departures() const { return departures_; }

  // Classes in order of their keys; those with runs first come in the table's.
  const std::vector<std::string>& classes() const { return classes_; }     // keys of those with runs
  const std::vector<Eigen::Index>& class_of() const { return class_of_; }  // of each machine
  const std::vector<MachineFacts>& class_machines() const { return class_machines_; }
  Eigen::MatrixXd class_means(const Eigen::MatrixXd& by_machine) const;
  const Eigen::MatrixXd& class_precision() const { return precision_; }  // inverse of the classes' covariance

 private:
  using Equations = std::pair<Eigen::MatrixXd, Eigen::VectorXd>;  // gram, moment
  void find_measured();
  void make_columns();
  void make_equations();
  void leave_out_faulty();
  void make_keys();
  void make_classes();
  Eigen::MatrixXd weights(const ProgramKernel& kernel, const Eigen::MatrixXd& values,
                          const std::string& without_family) const;

  ScalingTable table_;
  Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> measured_;
  Eigen::MatrixXd log_slowdown_, departures_;
  std::vector<Eigen::MatrixXd> columns_;                                // of each program: [machines x columns]
  std::map<std::pair<std::string, std::string>, Equations> equations_;  // by family, platform
  std::map<std::string, Equations> of_family_, of_platform_;
  Equations of_all_;
  std::vector<std::string> faulty_;
  std::vector<ProgramKey> keys_;
  Eigen::VectorXd mean_, deviation_;
  std::vector<std::string> classes_;
  std::vector<Eigen::Index> class_of_;
  std::vector<MachineFacts> class_machines_;
  Eigen::VectorXd class_sizes_;
  Eigen::MatrixXd precision_;
};

}  // namespace perfcast::program
