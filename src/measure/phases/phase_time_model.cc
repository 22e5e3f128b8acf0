#include "measure/phases/phase_time_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/parallel.h"
#include "base/statistics.h"
#include "learn/linear/lasso.h"

namespace perfcast::measure {
namespace {

constexpr size_t kLeastPrograms = 3;
constexpr std::array kPenalties = {1e-4, 1e-3, 1e-2, 3e-2};
constexpr std::array kLocalities = {0.0, 1.0, 0.5};
// What an example far away still counts.
constexpr double kFarAway = 0.03;
constexpr double kRidge = 1e-6;
constexpr double kMostBeyond = 1.5;
constexpr size_t kMostNested = 40;  // programs for which settings are chosen anew

// Costs are compared by their square roots: a few misses more matter where there are few.
Eigen::MatrixXd placed(const Eigen::MatrixXd& scaled) { return scaled.cwiseMax(0).cwiseSqrt(); }

std::map<std::string, std::vector<size_t>> by_program(const std::vector<PhaseExample>& examples) {
  std::map<std::string, std::vector<size_t>> programs;
  for (size_t i = 0; i < examples.size(); ++i) programs[examples[i].program].push_back(i);
  return programs;
}

}  // namespace

PhaseTimeModel::PhaseTimeModel(std::vector<PhaseExample> examples, Settings settings)
    : examples_(std::move(examples)), settings_(settings) {
  const auto rows = static_cast<Eigen::Index>(examples_.size());
  costs_.resize(rows, examples_.front().costs.size());
  times_.resize(rows);
  weights_.resize(rows);
  known_ = Eigen::VectorXd::Ones(costs_.cols());
  std::map<std::string, double> seconds, instructions;
  for (const PhaseExample& example : examples_) {
    seconds[example.program] += example.cpu_s;
    instructions[example.program] += example.instructions_count;
  }
  for (Eigen::Index i = 0; i < rows; ++i) {
    const PhaseExample& example = examples_[static_cast<size_t>(i)];
    costs_.row(i) = example.costs.transpose();
    known_ = known_.cwiseProduct(example.costs.unaryExpr([](double cost) { return std::isfinite(cost) ? 1.0 : 0.0; }));
    times_(i) = example.ns_per_instruction();
    weights_(i) = example.cpu_s / seconds[example.program];
  }
  // What is not known of all examples is learnt from none.
  for (Eigen::Index k = 0; k < known_.size(); ++k) {
    if (known_(k) == 0) costs_.col(k).setZero();
  }
  scales_ = costs_.array().square().colwise().mean().sqrt().transpose();
  scales_ = scales_.unaryExpr([](double value) { return value > 0 ? value : 1.0; });
  costs_ = costs_ * scales_.cwiseInverse().asDiagonal();
  places_ = placed(costs_);
  for (const auto& [program, s] : seconds) mean_ += 1e9 * s / instructions[program];
  mean_ /= static_cast<double>(seconds.size());
  least_ = times_.minCoeff() / 2;
  std::vector<double> distances;
  distances.reserve(static_cast<size_t>(rows * (rows - 1) / 2));
  for (Eigen::Index a = 0; a < rows; ++a) {
    for (Eigen::Index b = 0; b < a; ++b) distances.push_back((places_.row(a) - places_.row(b)).norm());
  }
  if (!distances.empty()) median_distance_ = std::max(1e-9, median(std::move(distances)));
}

double PhaseTimeModel::ns_per_instruction(const Eigen::VectorXd& costs) const {
  Eigen::RowVectorXd scaled = costs.cwiseQuotient(scales_).transpose();
  Eigen::VectorXd known = known_;
  for (Eigen::Index k = 0; k < known.size(); ++k) {
    // Not far beyond what was learnt from.
    scaled(k) = std::min(scaled(k), kMostBeyond * costs_.col(k).maxCoeff());
    const bool wanted = !settings_.few || k == 0 || k + 1 == known.size();
    if (wanted && known(k) > 0 && std::isfinite(scaled(k))) continue;
    known(k) = 0;
    scaled(k) = 0;
  }
  Eigen::VectorXd weights = weights_;
  if (settings_.locality > 0) {
    const Eigen::RowVectorXd here = placed(scaled);
    const double width = settings_.locality * median_distance_;
    for (Eigen::Index i = 0; i < weights.size(); ++i) {
      const double distance = (places_.row(i) - here).cwiseProduct(known.transpose()).squaredNorm();
      weights(i) *= kFarAway + std::exp(-distance / (2 * width * width));
    }
  }
  // Relative errors: each row over its time, the target 1.
  const Eigen::MatrixXd relative = times_.cwiseInverse().asDiagonal() * costs_ * known.asDiagonal();
  LassoProblem problem;
  const double mass = weights.sum();
  problem.gram = relative.transpose() * weights.asDiagonal() * relative / mass;
  problem.gram.diagonal().array() += kRidge * problem.gram.diagonal().maxCoeff();
  problem.moments = relative.transpose() * weights / mass;
  const double penalty = settings_.penalty_ratio * largest_penalty(problem, true);
  const Eigen::MatrixXd found = solve_lasso(problem, penalty, true, Eigen::MatrixXd::Zero(problem.gram.rows(), 1));
  return std::max(least_, (scaled * found)(0));
}

namespace {

std::vector<PhaseExample> without(const std::vector<PhaseExample>& examples, const std::string& program) {
  std::vector<PhaseExample> others;
  others.reserve(examples.size());
  for (const PhaseExample& example : examples) {
    if (example.program != program) others.push_back(example);
  }
  return others;
}

std::vector<PhaseTimeModel::Settings> all_settings() {
  std::vector<PhaseTimeModel::Settings> grid;
  for (const bool few : {false, true}) {
    for (const double locality : kLocalities) {
      for (const double penalty : kPenalties) {
        if (!few || penalty == kPenalties.front()) grid.push_back({penalty, locality, few});
      }
    }
  }
  return grid;
}

}  // namespace

PhaseTimeModel::LeftOut PhaseTimeModel::forecast_of(const std::vector<PhaseExample>& examples,
                                                    const std::string& program, const Settings& settings) {
  const PhaseTimeModel model(without(examples, program), settings);
  LeftOut result;
  double seconds = 0;
  for (const PhaseExample& example : examples) {
    if (example.program != program) continue;
    const double ratio = model.ns_per_instruction(example.costs) / example.ns_per_instruction();
    result.error += example.cpu_s * std::abs(ratio - 1);
    result.logs.push_back(-std::log(ratio));
    seconds += example.cpu_s;
  }
  result.error /= seconds;
  return result;
}

PhaseTimeModel::Settings PhaseTimeModel::chosen_for(const std::vector<PhaseExample>& examples) {
  Settings best;
  double least = std::numeric_limits<double>::infinity();
  for (const Settings& settings : all_settings()) {
    double error = 0;
    for (const auto& [program, rows] : by_program(examples)) error += forecast_of(examples, program, settings).error;
    if (error >= least) continue;
    least = error;
    best = settings;
  }
  return best;
}

Result<PhaseTimeModel> PhaseTimeModel::fit(std::vector<PhaseExample> examples) {
  const auto programs = by_program(examples);
  if (programs.size() < kLeastPrograms) {
    return Error{
        "too-few-phases",
        fmt::format("phases with native times of {} program{} are too few to learn from", programs.size(),
                    programs.size() == 1 ? "" : "s"),
        "",
        fmt::format("profiles of {} and more, written by perfcast profile --phases on this machine", kLeastPrograms)};
  }
  const Settings settings = chosen_for(examples);
  return PhaseTimeModel(std::move(examples), settings);
}

Result<PhaseTimeModel> PhaseTimeModel::fit_with_errors(std::vector<PhaseExample> examples, int threads) {
  auto model = fit(std::move(examples));
  if (!model) return model;
  std::vector<std::string> names;
  for (const auto& [program, rows] : by_program(model->examples_)) names.push_back(program);
  model->left_out_.resize(names.size());
  const Status done = parallel_for(names.size(), threads, [&](size_t i) -> Status {
    const Settings settings = names.size() <= kMostNested && names.size() > kLeastPrograms
                                  ? chosen_for(without(model->examples_, names[i]))
                                  : model->settings_;
    model->left_out_[i] = forecast_of(model->examples_, names[i], settings);
    return {};
  });
  if (!done) return done.error();
  return model;
}

}  // namespace perfcast::measure
