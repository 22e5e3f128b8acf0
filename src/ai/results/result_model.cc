#include "ai/results/result_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/random.h"
#include "learn/algebra/dense.h"
#include "learn/fit/lbfgs.h"

namespace perfcast::ai {
namespace {

constexpr double kPriorDeviation = 1.5;  // of a variance's log about its usual one
constexpr double kWideDeviation = 0.1;   // of those that few models, scenarios or accelerators can tell nothing of

// Variances that stay where they are: of what is different from row to row by orders of magnitude.
bool stays(size_t term) {
  const auto which = static_cast<ResultTerm>(term);
  return which == ResultTerm::kFamily || which == ResultTerm::kScenario || which == ResultTerm::kUnknownAccelerator;
}

std::vector<size_t> likelihood_rows(const std::vector<ResultRow>& rows, const std::vector<size_t>& used,
                                    const ResultFitOptions& options) {
  if (used.size() <= options.most_likelihood_rows) return used;
  std::map<std::string, std::vector<size_t>> systems;
  for (const size_t row : used) systems[rows[row].system].push_back(row);
  std::vector<const std::vector<size_t>*> order;
  order.reserve(systems.size());
  for (const auto& [name, members] : systems) order.push_back(&members);
  Random random(options.seed);
  random.shuffle(order);
  std::set<std::string> seen;
  std::stable_partition(order.begin(), order.end(), [&](const std::vector<size_t>* members) {
    return seen.insert(rows[members->front()].accelerator).second;
  });
  std::vector<size_t> taken;
  taken.reserve(options.most_likelihood_rows);
  for (const auto* members : order) {
    if (taken.size() + members->size() > options.most_likelihood_rows) continue;
    taken.insert(taken.end(), members->begin(), members->end());
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

// Log rates without what is expected, and without the mean of those whose facts are known (or of all).
Eigen::VectorXd centred(const std::vector<ResultRow>& rows, const ResultPoints& points, double& mean) {
  Eigen::VectorXd left(static_cast<Eigen::Index>(rows.size()));
  double sum = 0, known = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    left[row] = rows[i].log_rate - points.expected(i);
    if (!points.knows_facts(i)) continue;
    sum += left[row];
    known += 1;
  }
  mean = known > 0 ? sum / known : left.mean();
  left.array() -= mean;
  return left;
}

Eigen::MatrixXd covariance_matrix(const ResultPoints& points, const ResultTerms& variances) {
  const auto n = static_cast<Eigen::Index>(points.size());
  Eigen::MatrixXd matrix(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = j; i < n; ++i) {
      matrix(i, j) = points.covariance(static_cast<size_t>(i), static_cast<size_t>(j), variances);
      matrix(j, i) = matrix(i, j);
    }
  }
  return matrix;
}

// Minus the log of likelihood times prior, and its gradient by the logs of the variances.
class NegativeLikelihood {
 public:
  NegativeLikelihood(const ResultPoints& points, const Eigen::VectorXd& left) : points_(points), left_(left) {}

  double operator()(const Eigen::VectorXd& logs, Eigen::VectorXd& gradient) const {
    ResultTerms variances;
    for (size_t t = 0; t < kResultTerms; ++t) variances[t] = std::exp(logs[static_cast<Eigen::Index>(t)]);
    const Eigen::MatrixXd matrix = covariance_matrix(points_, variances);
    const Eigen::MatrixXd root = cholesky_root(matrix);
    const Eigen::MatrixXd inverse = inverse_positive_definite(matrix);
    const Eigen::VectorXd weights = inverse * left_;
    double value = 0.5 * left_.dot(weights) + root.diagonal().array().log().sum();
    ResultTerms slopes{};
    ResultTerms bases;
    for (size_t j = 0; j < points_.size(); ++j) {
      for (size_t i = j; i < points_.size(); ++i) {
        const auto row = static_cast<Eigen::Index>(i), column = static_cast<Eigen::Index>(j);
        const double twice = i == j ? 0.5 : 1;  // the matrix is symmetric
        const double slope = twice * (inverse(row, column) - weights[row] * weights[column]);
        points_.terms(i, j, bases);
        for (size_t t = 0; t < kResultTerms; ++t) slopes[t] += slope * bases[t];
      }
    }
    for (size_t t = 0; t < kResultTerms; ++t) {
      const auto index = static_cast<Eigen::Index>(t);
      const double deviation = stays(t) ? kWideDeviation : kPriorDeviation;
      const double off = (logs[index] - std::log(usual_variances()[t])) / deviation;
      value += 0.5 * off * off;
      gradient[index] = variances[t] * slopes[t] + off / deviation;
    }
    return value;
  }

 private:
  const ResultPoints& points_;
  const Eigen::VectorXd& left_;
};

// How far each row lies from what all others say, in deviations.
Eigen::VectorXd surprises(const Eigen::MatrixXd& inverse, const Eigen::VectorXd& left) {
  return ((inverse * left).array() / inverse.diagonal().array().sqrt()).matrix();
}

double huber_noise(double surprise) {
  constexpr double kFar = 2;
  return std::max(1.0, surprise * surprise / (kFar * kFar));
}

Status check_rows(size_t rows) {
  if (rows < kFewestResultRows) {
    return Error{"too-few-results", fmt::format("{} results are too few to learn from", rows), "",
                 fmt::format("{} or more", kFewestResultRows)};
  }
  if (rows > kMostResultRows) {
    return Error{"too-many-results", fmt::format("{} results are too many to learn from at once", rows), "",
                 fmt::format("{} at most: fewer versions or models, or one division", kMostResultRows)};
  }
  return {};
}

}  // namespace

Result<ResultFit> fit_results(const std::vector<ResultRow>& rows, const std::vector<size_t>& used,
                              const ResultFitOptions& options) {
  if (Status enough = check_rows(used.size()); !enough) return enough.error();
  const auto rows_of = [&rows](const std::vector<size_t>& which) {
    std::vector<ResultRow> taken;
    taken.reserve(which.size());
    for (const size_t row : which) taken.push_back(rows[row]);
    return taken;
  };
  const auto points_of = [](const std::vector<ResultRow>& taken) {
    std::vector<size_t> all(taken.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return ResultPoints(taken, all);
  };
  const std::vector<ResultRow> taken = rows_of(likelihood_rows(rows, used, options));
  ResultPoints points = points_of(taken);
  double mean = 0;
  const Eigen::VectorXd left = centred(taken, points, mean);
  Eigen::VectorXd logs(static_cast<Eigen::Index>(kResultTerms));
  for (size_t t = 0; t < kResultTerms; ++t) logs[static_cast<Eigen::Index>(t)] = std::log(usual_variances()[t]);
  ResultFit fit;
  constexpr int kRounds = 2;  // the second without what the first found far out
  for (int round = 0; round < kRounds; ++round) {
    const NegativeLikelihood objective(points, left);
    MinimiseOptions minimise_options;
    minimise_options.iterations = options.iterations;
    minimise_options.gradient_tolerance = 0.05;
    logs =
        minimise([&objective](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) { return objective(x, gradient); },
                 logs, minimise_options);
    for (size_t t = 0; t < kResultTerms; ++t) fit.variances[t] = std::exp(logs[static_cast<Eigen::Index>(t)]);
    if (round + 1 == kRounds) break;
    const Eigen::VectorXd far = surprises(inverse_positive_definite(covariance_matrix(points, fit.variances)), left);
    for (size_t i = 0; i < taken.size(); ++i) points.set_noise(i, huber_noise(far[static_cast<Eigen::Index>(i)]));
  }
  const std::vector<ResultRow> all_used = rows_of(used);
  const ResultPoints all_points = points_of(all_used);
  const Eigen::VectorXd far = surprises(inverse_positive_definite(covariance_matrix(all_points, fit.variances)),
                                        centred(all_used, all_points, mean));
  fit.noise.assign(rows.size(), 1);
  for (size_t k = 0; k < used.size(); ++k) fit.noise[used[k]] = huber_noise(far[static_cast<Eigen::Index>(k)]);
  return fit;
}

Result<ResultModel> ResultModel::create(std::vector<ResultRow> rows, const ResultFit& fit) {
  if (Status enough = check_rows(rows.size()); !enough) return enough.error();
  ResultModel model;
  model.rows_ = std::move(rows);
  model.fit_ = fit;
  std::vector<size_t> all(model.rows_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  ResultPoints points(model.rows_, all);
  for (size_t i = 0; i < fit.noise.size(); ++i) points.set_noise(i, fit.noise[i]);
  model.left_ = centred(model.rows_, points, model.mean_);
  model.inverse_ = inverse_positive_definite(covariance_matrix(points, fit.variances));
  model.weights_ = model.inverse_ * model.left_;
  return model;
}

std::vector<ResultForecast> ResultModel::leave_out(const std::vector<int>& group) const {
  std::map<int, std::vector<Eigen::Index>> members;
  for (size_t i = 0; i < rows_.size(); ++i) members[group[i]].push_back(static_cast<Eigen::Index>(i));
  std::vector<ResultForecast> forecasts(rows_.size());
  for (const auto& [name, indices] : members) {
    const auto n = static_cast<Eigen::Index>(indices.size());
    Eigen::MatrixXd block(n, n);
    Eigen::VectorXd own(n);
    for (Eigen::Index j = 0; j < n; ++j) {
      own[j] = weights_[indices[static_cast<size_t>(j)]];
      for (Eigen::Index i = 0; i < n; ++i)
        block(i, j) = inverse_(indices[static_cast<size_t>(i)], indices[static_cast<size_t>(j)]);
    }
    // By the inverse of a partitioned matrix: the covariance of the group given all others is the inverse of its block.
    const Eigen::MatrixXd given = inverse_positive_definite(block);
    const Eigen::VectorXd errors = given * own;
    for (Eigen::Index k = 0; k < n; ++k) {
      const auto row = static_cast<size_t>(indices[static_cast<size_t>(k)]);
      forecasts[row].log_rate = rows_[row].log_rate - errors[k];
      // What made the row count less says nothing of the next one.
      const double more = (fit_.noise.empty() ? 0 : fit_.noise[row] - 1) *
                          fit_.variances[static_cast<size_t>(ResultTerm::kOwn)] /
                          static_cast<double>(rows_[row].results);
      forecasts[row].deviation = std::sqrt(std::max(0.0, given(k, k) - more));
    }
  }
  return forecasts;
}

std::vector<ResultForecast> ResultModel::forecast(const std::vector<ResultRow>& asked) const {
  std::vector<ResultRow> all = rows_;
  all.insert(all.end(), asked.begin(), asked.end());
  std::vector<size_t> known(rows_.size());
  std::iota(known.begin(), known.end(), size_t{0});
  const ResultPoints points(all, known);
  std::vector<ResultForecast> forecasts;
  forecasts.reserve(asked.size());
  Eigen::VectorXd shared(static_cast<Eigen::Index>(rows_.size()));
  for (size_t a = rows_.size(); a < all.size(); ++a) {
    for (size_t i = 0; i < rows_.size(); ++i)
      shared[static_cast<Eigen::Index>(i)] = points.covariance(a, i, fit_.variances);
    const double own = points.covariance(a, a, fit_.variances) - shared.dot(inverse_ * shared);
    forecasts.push_back({points.expected(a) + mean_ + shared.dot(weights_), std::sqrt(std::max(0.0, own))});
  }
  return forecasts;
}

}  // namespace perfcast::ai
