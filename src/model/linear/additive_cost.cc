#include "model/linear/additive_cost.h"

#include <cmath>

#include "model/bundle.h"
#include "model/features.h"
#include "model/linear/nnls.h"

namespace perfcast {
namespace {

constexpr double kShrinkages[] = {0.3, 1, 3, 10};
constexpr int kRounds = 4;          // of program scale, costs, pooled costs
constexpr int64_t kInnerFolds = 4;  // of families, to choose the shrinkage

}  // namespace

// `shares` is P x K: textbook cycles per instruction by cause. Costs are found as multiples of the textbook's. How long
// a program runs on the average platform is unknown in a relative table, so each round takes it from the last costs.
void AdditiveCostPredictor::fit_costs(const Eigen::MatrixXd& shares, const Targets& targets, double shrinkage) {
  const Eigen::Index classes = shares.cols();
  const Eigen::Index platforms = targets.log_rpv.cols();
  const Eigen::RowVectorXd speed = weighted_mean(targets.log_rpv, targets.weights).array().exp();
  Eigen::VectorXd pooled = Eigen::VectorXd::Ones(classes);
  costs_ = pooled * speed;
  for (int round = 0; round < kRounds; ++round) {
    const Eigen::VectorXd scale = (shares * costs_).array().log().rowwise().mean();
    const Eigen::MatrixXd cycles = (targets.log_rpv.colwise() + scale).array().exp();
    Eigen::VectorXd multiple = Eigen::VectorXd::Zero(classes);
    for (Eigen::Index j = 0; j < platforms; ++j) {
      // Relative error: each row is divided by its time; absent entries weigh nothing.
      const Eigen::VectorXd expected = pooled * speed(j);
      const Eigen::MatrixXd rows = cycles.col(j).cwiseInverse().asDiagonal() * shares * expected.asDiagonal();
      const Eigen::VectorXd weights = targets.weights.cwiseProduct(targets.present.col(j));
      Eigen::MatrixXd gram = rows.transpose() * weights.asDiagonal() * rows;
      gram.diagonal().array() += shrinkage;
      const Eigen::VectorXd moment = (rows.transpose() * weights).array() + shrinkage;
      const Eigen::VectorXd solution = nonnegative_least_squares(gram, moment);
      costs_.col(j) = expected.cwiseProduct(solution);
      multiple += solution / static_cast<double>(platforms);
    }
    pooled = pooled.cwiseProduct(multiple).cwiseMax(0.05).cwiseMin(20);
  }
}

double AdditiveCostPredictor::inner_error(const Eigen::MatrixXd& shares, const Targets& targets,
                                          double shrinkage) const {
  Eigen::MatrixXd predicted = targets.log_rpv;
  for (int64_t fold = 0; fold < kInnerFolds; ++fold) {
    std::vector<Eigen::Index> train;
    std::vector<Eigen::Index> test;
    for (size_t p = 0; p < targets.family.size(); ++p) {
      (targets.family[p] % kInnerFolds == fold ? test : train).push_back(static_cast<Eigen::Index>(p));
    }
    if (train.empty() || test.empty()) continue;
    Targets part;
    part.log_rpv = targets.log_rpv(train, Eigen::all);
    part.present = targets.present(train, Eigen::all);
    part.weights = targets.weights(train);
    AdditiveCostPredictor inner;
    inner.fit_costs(shares(train, Eigen::all), part, shrinkage);
    Eigen::MatrixXd rows = (shares(test, Eigen::all) * inner.costs_).array().log();
    rows.colwise() -= rows.rowwise().mean().eval();
    predicted(test, Eigen::all) = rows;
  }
  return family_mean_error(predicted, targets);
}

namespace {

// Absent counts are taken as the typical program's rate.
Eigen::MatrixXd textbook_cycles(const std::vector<const Profile*>& profiles, const Eigen::VectorXd& typical_rates) {
  Eigen::MatrixXd rates = work_rates(profiles);
  const Eigen::VectorXd textbook = textbook_costs();
  for (Eigen::Index k = 0; k < rates.cols(); ++k) {
    for (Eigen::Index p = 0; p < rates.rows(); ++p) {
      const double rate = std::isnan(rates(p, k)) ? typical_rates(k) : rates(p, k);
      rates(p, k) = rate * textbook(k);
    }
  }
  return rates;
}

}  // namespace

Status AdditiveCostPredictor::fit(const TrainingTable& table, const FitOptions&) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  const auto profiles = profiles_of(table);
  typical_rates_ = Standardiser::fit(work_rates(profiles), targets->weights).centre;
  const Eigen::MatrixXd shares = textbook_cycles(profiles, typical_rates_);
  double best = kShrinkages[1];
  double least = std::numeric_limits<double>::infinity();
  if (targets->families >= 2 * kInnerFolds) {
    for (const double shrinkage : kShrinkages) {
      const double error = inner_error(shares, *targets, shrinkage);
      if (error < least) {
        least = error;
        best = shrinkage;
      }
    }
  }
  fit_costs(shares, *targets, best);
  costs_ = textbook_costs().asDiagonal() * costs_;
  return {};
}

Eigen::MatrixXd AdditiveCostPredictor::predict(const std::vector<const Profile*>& profiles) const {
  Eigen::MatrixXd rates = work_rates(profiles);
  for (Eigen::Index k = 0; k < rates.cols(); ++k) {
    rates.col(k) = rates.col(k).unaryExpr([&](double rate) { return std::isnan(rate) ? typical_rates_(k) : rate; });
  }
  // All costs could be 0 for what a program does: a floor keeps the logarithm finite.
  Eigen::MatrixXd result = (rates * costs_).array().max(1e-9).log();
  result.colwise() -= result.rowwise().mean().eval();
  return result;
}

void AdditiveCostPredictor::save(TensorMap& tensors) const {
  tensors.put("typical_rates", typical_rates_);
  tensors.put("costs", costs_);
}

Status AdditiveCostPredictor::load(const TensorMap& tensors) {
  const int64_t classes = textbook_costs().size();
  const auto typical = tensors.get("typical_rates", classes, 1);
  if (!typical) return typical.error();
  auto costs = tensors.get("costs", classes);
  if (!costs) return costs.error();
  typical_rates_ = typical->col(0);
  costs_ = std::move(*costs);
  return {};
}

}  // namespace perfcast
