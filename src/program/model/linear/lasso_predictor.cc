#include "program/model/linear/lasso_predictor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "learn/tensors/tensor_map.h"
#include "program/model/attribution/sum_attribution.h"

namespace perfcast::program {
namespace {

constexpr int kPenalties = 12;
constexpr double kLeastShare = 1e-3;  // smallest penalty tried, of the one that leaves nothing
constexpr int64_t kPenaltyFolds = 5;
constexpr double kLeastRpv = 0.02;  // a sum of costs may come out at 0; a time can't

}  // namespace

// Standardised features lie within +-limit; nnlasso needs counts at least 0, and a linear scale to add on.
Eigen::MatrixXd LassoPredictor::inputs(const std::vector<const Profile*>& profiles) const {
  Eigen::MatrixXd rows = inputs_.rows(profiles);
  if (!nonnegative_) return rows;
  return (rows.rowwise() - least_.transpose()).cwiseMax(0);
}

std::vector<LassoPredictor::Model> LassoPredictor::path(const Data& data, const std::vector<Eigen::Index>& members,
                                                        const std::vector<double>& penalties) const {
  const Eigen::MatrixXd rows = data.rows(members, Eigen::all);
  const Eigen::MatrixXd targets = data.targets(members, Eigen::all);
  const Eigen::VectorXd weights = data.weights(members) / data.weights(members).sum();
  const Eigen::RowVectorXd row_mean = weights.transpose() * rows, target_mean = weights.transpose() * targets;
  const Eigen::MatrixXd centred = rows.rowwise() - row_mean;
  const Eigen::MatrixXd weighted = weights.asDiagonal() * centred;
  const LassoProblem problem{centred.transpose() * weighted, weighted.transpose() * (targets.rowwise() - target_mean)};
  const double largest = largest_penalty(problem, nonnegative_);
  std::vector<Model> models;
  Eigen::MatrixXd coefficients = Eigen::MatrixXd::Zero(rows.cols(), targets.cols());
  for (const double share : penalties) {
    coefficients = solve_lasso(problem, share * largest, nonnegative_, std::move(coefficients));
    models.push_back({coefficients, (target_mean - row_mean * coefficients).transpose()});
  }
  return models;
}

Eigen::MatrixXd LassoPredictor::log_rpv_of(const Model& model, const Eigen::MatrixXd& rows) const {
  Eigen::MatrixXd result = (rows * model.coefficients).rowwise() + model.intercept.transpose();
  if (nonnegative_) result = result.cwiseMax(kLeastRpv).array().log();
  result.colwise() -= result.rowwise().mean().eval();
  return result;
}

double LassoPredictor::choose_penalty(const Data& data, const Targets& targets,
                                      const std::vector<double>& penalties) const {
  const int64_t folds = std::min(kPenaltyFolds, targets.families);
  if (folds < 2) return penalties[penalties.size() / 2];
  std::vector<Eigen::MatrixXd> predicted(penalties.size(), targets.log_rpv);
  for (int64_t fold = 0; fold < folds; ++fold) {
    std::vector<Eigen::Index> train, test;
    for (size_t p = 0; p < targets.family.size(); ++p) {
      (targets.family[p] % folds == fold ? test : train).push_back(static_cast<Eigen::Index>(p));
    }
    const std::vector<Model> models = path(data, train, penalties);
    const Eigen::MatrixXd rows = data.rows(test, Eigen::all);
    for (size_t i = 0; i < models.size(); ++i) predicted[i](test, Eigen::all) = log_rpv_of(models[i], rows);
  }
  size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < penalties.size(); ++i) {
    const double error = family_mean_error(predicted[i], targets);
    if (error >= least) continue;
    least = error;
    best = i;
  }
  return penalties[best];
}

Status LassoPredictor::fit(const TrainingTable& table, const FitOptions&) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  inputs_ = StandardisedInputs::fit(table, targets->weights);
  const auto profiles = profiles_of(table);
  least_ = inputs_.rows(profiles).colwise().minCoeff();
  Data data{inputs(profiles), targets->log_rpv, targets->weights};
  if (nonnegative_) data.targets = data.targets.array().exp();

  std::vector<double> penalties;  // from strong to weak, so that each solution starts from the one before
  penalties.reserve(kPenalties);
  for (int i = 0; i < kPenalties; ++i) penalties.push_back(std::pow(kLeastShare, i / (kPenalties - 1.0)));
  penalty_ = choose_penalty(data, *targets, penalties);
  std::vector<double> up_to_chosen(penalties.begin(), std::find(penalties.begin(), penalties.end(), penalty_) + 1);
  std::vector<Eigen::Index> all(static_cast<size_t>(data.rows.rows()));
  for (size_t p = 0; p < all.size(); ++p) all[p] = static_cast<Eigen::Index>(p);
  Model model = path(data, all, up_to_chosen).back();
  coefficients_ = std::move(model.coefficients);
  intercept_ = std::move(model.intercept);
  return {};
}

Eigen::MatrixXd LassoPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return log_rpv_of({coefficients_, intercept_}, inputs(profiles));
}

Result<FeatureAttribution> LassoPredictor::attribute_features(const AttributionRequest& request) const {
  const Eigen::MatrixXd both = inputs({request.profile, request.reference});
  const Eigen::RowVectorXd change = both.row(0) - both.row(1);
  Eigen::MatrixXd log = nonnegative_
                            ? log_sum_attribution(both.row(0), both.row(1), coefficients_, intercept_, kLeastRpv)
                            : Eigen::MatrixXd(change.transpose().asDiagonal() * coefficients_);
  return attribution_of(*this, request, AttributionMethod::kAdditive, inputs_.chosen().names(),
                        centred_over_platforms(std::move(log)));
}

void LassoPredictor::save(TensorMap& tensors) const {
  inputs_.save(tensors);
  tensors.put("coefficients", coefficients_);
  tensors.put("intercept", intercept_);
  tensors.put("least", least_);
}

Status LassoPredictor::load(const TensorMap& tensors) {
  if (Status status = inputs_.load(tensors); !status) return status;
  auto coefficients = tensors.get("coefficients", inputs_.columns());
  if (!coefficients) return coefficients.error();
  const auto intercept = tensors.get("intercept", coefficients->cols(), 1);
  if (!intercept) return intercept.error();
  const auto least = tensors.get("least", inputs_.columns(), 1);
  if (!least) return least.error();
  coefficients_ = std::move(*coefficients);
  intercept_ = intercept->col(0);
  least_ = least->col(0);
  return {};
}

}  // namespace perfcast::program
