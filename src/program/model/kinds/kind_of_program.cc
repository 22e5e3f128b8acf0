#include "program/model/kinds/kind_of_program.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/unknown.h"
#include "learn/algebra/dense.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/features/work_features.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/kinds/application_levels.h"

namespace perfcast::program {
namespace {

constexpr double kOddsRidge = 3;   // on coefficients of standardised inputs
constexpr double kSure = 30;       // log odds of a kind that all programs are of
constexpr int kNewtonRounds = 50;  // of Newton's method
constexpr const char* kKindCounters[] = {"code_lines_count", "footprint_lines_count", "tb_executed_count",
                                         "files_opened_count"};

// The odds are squared, as a mean of two answers is worse than the likelier of the two; and they count half where they
// are 1.6 to 1: what is taken for an application and is none errs more than the other way round.
constexpr double kSharper = 2, kDoubt = 1;

double chance(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

std::vector<size_t> share_columns() {
  std::vector<size_t> columns;
  const std::vector<std::string>& names = work_feature_names();
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].starts_with("share_")) columns.push_back(i);
  }
  return columns;
}

}  // namespace

const std::vector<std::string>& KindOfProgram::inputs() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (const size_t column : share_columns()) made.push_back(work_feature_names()[column]);
    for (const char* counter : kKindCounters) made.push_back(std::string("log_") + counter);
    return made;
  }();
  return names;
}

Eigen::MatrixXd KindOfProgram::extract(const std::vector<const Profile*>& profiles) {
  const std::vector<size_t> shares = share_columns();
  const Eigen::MatrixXd work = extract_work_features(profiles);
  Eigen::MatrixXd rows(work.rows(), static_cast<Eigen::Index>(inputs().size()));
  for (Eigen::Index p = 0; p < rows.rows(); ++p) {
    Eigen::Index column = 0;
    for (const size_t share : shares) rows(p, column++) = work(p, static_cast<Eigen::Index>(share));
    for (const char* counter : kKindCounters) {
      const auto found = profiles[static_cast<size_t>(p)]->metrics.find(counter);
      const bool known = found != profiles[static_cast<size_t>(p)]->metrics.end() && found->second >= 0;
      rows(p, column++) = known ? std::log1p(found->second) : kUnknown;
    }
  }
  return rows;
}

void KindOfProgram::fit(const TrainingTable& table) {
  const auto programs = static_cast<Eigen::Index>(table.programs.size());
  std::map<std::string, double> members;
  for (const Program& program : table.programs) ++members[program.family];
  Eigen::VectorXd weights(programs), is(programs);
  for (Eigen::Index p = 0; p < programs; ++p) {
    const Program& program = table.programs[static_cast<size_t>(p)];
    weights(p) = 1 / std::sqrt(members[program.family]);
    is(p) = program.group == kApplicationGroup ? 1 : 0;
  }
  const Eigen::MatrixXd raw = extract(profiles_of(table));
  standardiser_ = Standardiser::fit(raw, weights);
  coefficients_ = Eigen::VectorXd::Zero(raw.cols());
  if (is.minCoeff() == is.maxCoeff()) {
    intercept_ = is.minCoeff() > 0 ? kSure : -kSure;
    return;
  }
  Eigen::MatrixXd design(programs, raw.cols() + 1);
  design << Eigen::VectorXd::Ones(programs), standardiser_.apply(raw);
  Eigen::VectorXd penalty = Eigen::VectorXd::Constant(design.cols(), kOddsRidge);
  penalty(0) = 1e-6;
  Eigen::VectorXd found = Eigen::VectorXd::Zero(design.cols());
  for (int round = 0; round < kNewtonRounds; ++round) {
    const Eigen::VectorXd said = (design * found).unaryExpr(&chance);
    const Eigen::VectorXd slope = design.transpose() * weights.cwiseProduct(is - said) - penalty.cwiseProduct(found);
    const Eigen::VectorXd curvature = weights.cwiseProduct(said).cwiseProduct(Eigen::VectorXd::Ones(programs) - said);
    Eigen::MatrixXd hessian = design.transpose() * curvature.asDiagonal() * design;
    hessian.diagonal() += penalty;
    const Eigen::VectorXd step = solve_positive_definite(hessian, slope);
    found += step;
    if (step.cwiseAbs().maxCoeff() < 1e-9) break;
  }
  intercept_ = found(0);
  coefficients_ = found.tail(raw.cols());
}

Eigen::VectorXd KindOfProgram::share(const std::vector<const Profile*>& profiles) const {
  const Eigen::ArrayXd log_odds = (standardiser_.apply(extract(profiles)) * coefficients_).array() + intercept_;
  return (kSharper * log_odds - kDoubt).unaryExpr(&chance);
}

Eigen::VectorXd KindOfProgram::log_odds_change(const Profile& own, const Profile& reference) const {
  const Eigen::MatrixXd rows = standardiser_.apply(extract({&own, &reference}));
  return (rows.row(0) - rows.row(1)).transpose().cwiseProduct(coefficients_);
}

void KindOfProgram::save(TensorMap& tensors) const {
  standardiser_.save(tensors);
  tensors.put("coefficients", coefficients_);
  tensors.put("intercept", Eigen::MatrixXd::Constant(1, 1, intercept_));
}

Status KindOfProgram::load(const TensorMap& tensors) {
  const auto columns = static_cast<int64_t>(inputs().size());
  if (auto status = standardiser_.load(tensors, columns); !status) return status;
  auto coefficients = tensors.get("coefficients", columns, 1);
  if (!coefficients) return coefficients.error();
  const auto intercept = tensors.get("intercept", 1, 1);
  if (!intercept) return intercept.error();
  coefficients_ = *coefficients;
  intercept_ = (*intercept)(0, 0);
  return {};
}

}  // namespace perfcast::program
