#pragma once
// Rates that nobody published, from those that others did: Gaussian process regression of log rates over
// result_kernel.h's covariance (Rasmussen & Williams, Gaussian Processes for Machine Learning, 2006). The variances are
// those of the largest marginal likelihood of the rows that are learned from (their ch. 5.4), held near
// usual_variances() by a normal prior on their logs: no score chooses them. A result that all others together
// contradict by more than two deviations counts less, as Huber has it (Ann. Math. Stat. 35(1), 1964): its own variance
// grows until it is two.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ai/results/result_kernel.h"
#include "ai/results/result_rows.h"
#include "base/result.h"

namespace perfcast::ai {

struct ResultFitOptions {
  // The likelihood's cost grows with the cube of its rows: of more it takes so many, whole systems, one of each
  // accelerator first, then by chance.
  size_t most_likelihood_rows = 600;
  int64_t iterations = 25;
  uint64_t seed = 1;
  int threads = 1;  // of score_results(): a fold each
};

inline constexpr size_t kFewestResultRows = 8, kMostResultRows = 6000;

struct ResultFit {
  ResultTerms variances{};
  std::vector<double> noise;  // of each row: how many times the usual variance of its own it has; 1 for those not used
};

// From the rows of `used` alone; "too-few-results".
Result<ResultFit> fit_results(const std::vector<ResultRow>& rows, const std::vector<size_t>& used,
                              const ResultFitOptions& options);

struct ResultForecast {
  double log_rate = kUnknown;   // natural
  double deviation = kUnknown;  // of a result, as the model has it
};

class ResultModel {
 public:
  // Each row has a rate. "too-few-results", "too-many-results".
  static Result<ResultModel> create(std::vector<ResultRow> rows, const ResultFit& fit);

  const std::vector<ResultRow>& rows() const { return rows_; }
  const ResultTerms& variances() const { return fit_.variances; }

  // Each of the rows from all that are not of its group (group[i] of row i): the same as fitting anew without it, the
  // variances and what facts are centred by left as they are.
  std::vector<ResultForecast> leave_out(const std::vector<int>& group) const;

  // Of rows that have no rate.
  std::vector<ResultForecast> forecast(const std::vector<ResultRow>& asked) const;

 private:
  std::vector<ResultRow> rows_;
  ResultFit fit_;
  double mean_ = 0;
  Eigen::VectorXd left_;     // log rates without what is expected of them, and without their mean
  Eigen::MatrixXd inverse_;  // of the covariance
  Eigen::VectorXd weights_;  // inverse x left
};

}  // namespace perfcast::ai
