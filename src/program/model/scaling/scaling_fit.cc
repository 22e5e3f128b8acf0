#include "program/model/scaling/scaling_fit.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/statistics.h"
#include "base/unknown.h"
#include "learn/algebra/dense.h"
#include "learn/linear/nnls.h"

namespace perfcast::program {
namespace {

constexpr double kScalingRidge = 1e-6;
constexpr double kMostResidual = 1.5, kMostDeparture = 1;  // log: beyond, a measurement failed
constexpr double kFaultyAbove =
    1.8;                           // half of a server's programs so much slower than physics says: something is wrong
constexpr double kSizeLength = 2;  // of classes, in log2 of vCPUs

double same(bool is_same) { return is_same ? 1 : 0; }

}  // namespace

const ProgramKernel kSlowdownKernel = {.006, .004, .010, .014, .2, .002, .003};
const ProgramKernel kDepartureKernel = {.007, .002, .001, .0085, .7, .0005, .004};

double ProgramKernel::operator()(const ProgramKey& a, const ProgramKey& b) const {
  const double apart = (a.signature - b.signature).squaredNorm() / kSignatureSize;
  return all + kind * same(a.fills_cores == b.fills_cores) + group * same(!a.group.empty() && a.group == b.group) +
         alike * std::exp(-apart / (2 * length * length)) + family * same(!a.family.empty() && a.family == b.family);
}

double class_kernel(const MachineFacts& a, const MachineFacts& b) {
  const double sizes = (std::round(std::log2(a.vcpus)) - std::round(std::log2(b.vcpus))) / kSizeLength;
  const double near = std::exp(-0.5 * sizes * sizes);
  const double layout = same(a.siblings == b.siblings), both = layout * same(a.floats == b.floats);
  const double provider = same(a.provider == b.provider), platform = same(a.platform == b.platform);
  const double design = same(a.design == b.design && a.design != "unknown"), make = same(a.make == b.make);
  return .001 * provider + .002 * provider * both * near + .0015 * design * layout * near + .005 * make * both * near +
         .002 * design + .0005 * platform + .003 * platform * provider * near;
}

ScalingFit::ScalingFit(ScalingTable table) : table_(std::move(table)) {
  find_measured();
  make_columns();
  make_equations();
  leave_out_faulty();
  make_keys();
  make_classes();
}

void ScalingFit::find_measured() {
  log_slowdown_ = table_.log_together - table_.log_alone;
  departures_ = table_.log_alone - table_.log_alone_usual;
  measured_ = log_slowdown_.array().isFinite() && table_.log_alone_usual.array().isFinite();
}

void ScalingFit::make_columns() {
  const auto count = static_cast<Eigen::Index>(slowdown_column_names().size());
  for (size_t i = 0; i < table_.programs.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    Eigen::MatrixXd columns = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(table_.machines.size()), count);
    for (Eigen::Index s = 0; s < columns.rows(); ++s) {
      if (!measured_(row, s)) continue;
      const CopiesOnMachine copies = {&table_.loads[i], &table_.machines[static_cast<size_t>(s)],
                                      std::exp(table_.log_alone_usual(row, s)), table_.copies(row, s)};
      columns.row(s) = slowdown_columns(copies);
      if (!columns.row(s).array().isFinite().all()) {
        columns.row(s).setZero();
        measured_(row, s) = false;
      }
    }
    columns_.push_back(std::move(columns));
  }
}

// Of relative errors of the slowdown, sum over the machines of (columns' costs / slowdown - 1)^2; programs weigh alike
// within a family, families by the root of their number.
void ScalingFit::make_equations() {
  equations_.clear();
  of_family_.clear();
  of_platform_.clear();
  const auto count = static_cast<Eigen::Index>(slowdown_column_names().size());
  const Equations none = {Eigen::MatrixXd::Zero(count, count), Eigen::VectorXd::Zero(count)};
  of_all_ = none;
  std::map<std::string, double> members;
  for (const Program& program : table_.programs) ++members[program.family];
  for (size_t i = 0; i < table_.programs.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const auto machines = measured_.row(row).count();
    if (machines == 0) continue;
    const std::string& family = table_.programs[i].family;
    const double weight = 1 / static_cast<double>(machines) / std::sqrt(members[family]);
    for (Eigen::Index s = 0; s < measured_.cols(); ++s) {
      if (!measured_(row, s)) continue;
      const Eigen::VectorXd relative = columns_[i].row(s).transpose() * std::exp(-log_slowdown_(row, s));
      auto& [gram, moment] =
          equations_.try_emplace({family, table_.machines[static_cast<size_t>(s)].platform}, none).first->second;
      gram.selfadjointView<Eigen::Lower>().rankUpdate(relative, weight);
      moment += weight * relative;
    }
  }
  for (auto& [key, equations] : equations_) {
    equations.first = equations.first.selfadjointView<Eigen::Lower>();
    for (Equations* sum : {&of_all_, &of_family_.try_emplace(key.first, none).first->second,
                           &of_platform_.try_emplace(key.second, none).first->second}) {
      sum->first += equations.first;
      sum->second += equations.second;
    }
  }
}

Eigen::VectorXd ScalingFit::costs(const std::string& without_family, const std::string& without_platform) const {
  Equations sum = of_all_;
  const auto take = [&sum](const auto& map, const auto& key, double sign) {
    const auto found = map.find(key);
    if (found == map.end()) return;
    sum.first += sign * found->second.first;
    sum.second += sign * found->second.second;
  };
  take(of_family_, without_family, -1);
  take(of_platform_, without_platform, -1);
  take(equations_, std::pair(without_family, without_platform), 1);
  sum.first.diagonal().array() += kScalingRidge;
  return nonnegative_least_squares(sum.first, sum.second);
}

double ScalingFit::log_physics(Eigen::Index program, Eigen::Index machine, const Eigen::VectorXd& costs) const {
  return std::log(std::max(columns_[static_cast<size_t>(program)].row(machine).dot(costs), kLeastSlowdown));
}

void ScalingFit::leave_out_faulty() {
  const Eigen::VectorXd fitted = costs();
  for (Eigen::Index s = 0; s < measured_.cols(); ++s) {
    std::vector<double> apart;
    for (Eigen::Index i = 0; i < measured_.rows(); ++i) {
      if (!measured_(i, s) || table_.programs[static_cast<size_t>(i)].group == "compressor") continue;
      apart.push_back(log_slowdown_(i, s) - log_physics(i, s, fitted));
    }
    if (apart.empty() || median(std::move(apart)) <= std::log(kFaultyAbove)) continue;
    const MachineFacts& machine = table_.machines[static_cast<size_t>(s)];
    faulty_.push_back(machine.provider + "/" + machine.name);
    measured_.col(s) = false;
  }
  if (!faulty_.empty()) make_equations();
}

void ScalingFit::make_keys() {
  const auto programs = static_cast<Eigen::Index>(table_.programs.size());
  Eigen::MatrixXd signatures(programs, kSignatureSize);
  for (Eigen::Index i = 0; i < programs; ++i) {
    std::vector<std::vector<double>> values(kSignatureSize);
    for (Eigen::Index s = 0; s < measured_.cols(); ++s) {
      if (!measured_(i, s)) continue;
      const CopiesOnMachine copies = {&table_.loads[static_cast<size_t>(i)], &table_.machines[static_cast<size_t>(s)],
                                      std::exp(table_.log_alone_usual(i, s)), table_.copies(i, s)};
      const Eigen::VectorXd z = signature(copies);
      for (Eigen::Index k = 0; k < kSignatureSize; ++k) values[static_cast<size_t>(k)].push_back(z(k));
    }
    for (Eigen::Index k = 0; k < kSignatureSize; ++k) {
      auto& of_one = values[static_cast<size_t>(k)];
      signatures(i, k) = of_one.empty() ? 0 : median(std::move(of_one));
    }
  }
  mean_ = signatures.colwise().mean();
  const Eigen::MatrixXd centred = signatures.rowwise() - mean_.transpose();
  deviation_ = (centred.array().square().colwise().mean()).sqrt().max(1e-9);
  for (Eigen::Index i = 0; i < programs; ++i) {
    const auto at = static_cast<size_t>(i);
    keys_.push_back({centred.row(i).transpose().cwiseQuotient(deviation_), table_.groups[at],
                     table_.programs[at].family, table_.programs[at].group == "compressor"});
  }
}

void ScalingFit::make_classes() {
  std::map<std::string, const MachineFacts*> known;
  std::vector<std::string> key_of;
  for (size_t s = 0; s < table_.machines.size(); ++s) {
    key_of.push_back(machine_class(table_.machines[s]));
    if (measured_.col(static_cast<Eigen::Index>(s)).any()) known.emplace(key_of.back(), &table_.machines[s]);
  }
  std::map<std::string, Eigen::Index> index;
  for (const auto& [key, machine] : known) {
    index.emplace(key, static_cast<Eigen::Index>(classes_.size()));
    classes_.push_back(key);
    class_machines_.push_back(*machine);
  }
  const auto count = static_cast<Eigen::Index>(classes_.size());
  class_sizes_ = Eigen::VectorXd::Zero(count);
  for (size_t s = 0; s < key_of.size(); ++s) {
    const bool has_runs = measured_.col(static_cast<Eigen::Index>(s)).any();
    class_of_.push_back(has_runs ? index.at(key_of[s]) : -1);
    if (has_runs) class_sizes_(class_of_.back()) += 1;
  }
  Eigen::MatrixXd covariance(count, count);
  for (Eigen::Index a = 0; a < count; ++a) {
    for (Eigen::Index b = 0; b <= a; ++b) {
      covariance(a, b) = covariance(b, a) =
          class_kernel(class_machines_[static_cast<size_t>(a)], class_machines_[static_cast<size_t>(b)]);
    }
    covariance(a, a) += kClassVariance + kServerVariance / class_sizes_(a);
  }
  precision_ = inverse_positive_definite(covariance);
}

Eigen::MatrixXd ScalingFit::class_means(const Eigen::MatrixXd& by_machine) const {
  Eigen::MatrixXd means = Eigen::MatrixXd::Zero(by_machine.rows(), class_sizes_.size());
  for (Eigen::Index s = 0; s < by_machine.cols(); ++s) {
    const Eigen::Index c = class_of_[static_cast<size_t>(s)];
    if (c >= 0) means.col(c) += by_machine.col(s) / class_sizes_(c);
  }
  return means;
}

// Servers on which the same programs were measured share a factorisation.
Eigen::MatrixXd ScalingFit::weights(const ProgramKernel& kernel, const Eigen::MatrixXd& values,
                                    const std::string& without_family) const {
  const auto programs = static_cast<Eigen::Index>(keys_.size());
  Eigen::MatrixXd covariance(programs, programs);
  for (Eigen::Index a = 0; a < programs; ++a) {
    for (Eigen::Index b = 0; b <= a; ++b)
      covariance(a, b) = covariance(b, a) = kernel(keys_[static_cast<size_t>(a)], keys_[static_cast<size_t>(b)]);
    covariance(a, a) += kernel.noise;
  }
  std::map<std::vector<Eigen::Index>, std::vector<Eigen::Index>> machines_of_pattern;
  for (Eigen::Index s = 0; s < values.cols(); ++s) {
    if (class_of_[static_cast<size_t>(s)] < 0) continue;
    std::vector<Eigen::Index> known;
    for (Eigen::Index i = 0; i < programs; ++i) {
      if (std::isfinite(values(i, s)) && keys_[static_cast<size_t>(i)].family != without_family) known.push_back(i);
    }
    if (!known.empty()) machines_of_pattern[std::move(known)].push_back(s);
  }
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(programs, values.cols());
  for (const auto& [known, machines] : machines_of_pattern) {
    const Eigen::MatrixXd part = values(known, machines);
    const Eigen::MatrixXd solved = solve_positive_definite(covariance(known, known), part);
    for (size_t m = 0; m < machines.size(); ++m) {
      for (size_t k = 0; k < known.size(); ++k)
        result(known[k], machines[m]) = solved(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(m));
    }
  }
  return result;
}

Eigen::MatrixXd ScalingFit::slowdown_weights(const Eigen::VectorXd& costs, const std::string& without_family) const {
  Eigen::MatrixXd left = Eigen::MatrixXd::Constant(measured_.rows(), measured_.cols(), kUnknown);
  for (Eigen::Index i = 0; i < left.rows(); ++i) {
    for (Eigen::Index s = 0; s < left.cols(); ++s) {
      if (measured_(i, s))
        left(i, s) = std::clamp(log_slowdown_(i, s) - log_physics(i, s, costs), -kMostResidual, kMostResidual);
    }
  }
  return weights(kSlowdownKernel, left, without_family);
}

Eigen::MatrixXd ScalingFit::departure_weights(const std::string& without_family) const {
  const Eigen::MatrixXd clipped = departures_.unaryExpr(
      [](double value) { return std::isnan(value) ? value : std::clamp(value, -kMostDeparture, kMostDeparture); });
  return weights(kDepartureKernel, clipped, without_family);
}

}  // namespace perfcast::program
