#pragma once
// How alike two results are: the covariance of a Gaussian process over log rates. What is expected of a result before
// any other is seen is the peak of all its accelerators (of SingleStream and MultiStream: of one); the process is of
// what that leaves:
//   k(i, j) = sum over terms of variance_t x basis_t(i, j)
// with basis 1 where two results share something (a model, a scenario, an accelerator, ...), or a product of such with
// the likeness of accelerators by their facts. An accelerator without known facts shares no fact with another.

#include <Eigen/Core>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "ai/results/result_rows.h"

namespace perfcast::ai {

enum class ResultTerm {
  kFamily,  // the model, without its quality target
  kModel,   // with it
  kScenario,
  kTask,         // model and scenario
  kVersionTask,  // software gets better from round to round
  kVersionFamily,
  kFacts,        // lines in the facts of accelerators
  kFactsFamily,  // ... of a model
  kFactsTask,    // ... of a model in a scenario
  kLike,         // what grows with the likeness of facts: curves
  kLikeFamily,
  kFactsScenario,
  kLikeScenario,
  kGeneration,  // of accelerators with known facts
  kGenerationFamily,
  kVendor,  // likewise
  kVendorFamily,
  kAccelerator,
  kAcceleratorFamily,
  kAcceleratorModel,
  kAcceleratorScenario,
  kUnknownAccelerator,  // of one without facts: anything can be
  kUnknownScenario,
  kUnknownFamily,
  kUnknownTask,
  kCount,  // a power of the number of accelerators
  kCountScenario,
  kCountTask,
  kNodes,
  kSubmitter,
  kSubmitterFamily,
  kSystem,
  kSystemScenario,
  kOwn,  // of one result alone
};
inline constexpr size_t kResultTerms = static_cast<size_t>(ResultTerm::kOwn) + 1;
using ResultTerms = std::array<double, kResultTerms>;

std::string name_of(ResultTerm term);

// Where a fit of the variances begins, and what it is held near (result_model.h).
const ResultTerms& usual_variances();

// Rows as numbers: names become indices, facts become distances from their mean over the accelerators in deviations.
class ResultPoints {
 public:
  // `known`: the rows whose accelerators set means and deviations.
  ResultPoints(const std::vector<ResultRow>& rows, const std::vector<size_t>& known);

  size_t size() const { return points_.size(); }
  // basis_t of two rows; kOwn: where i == j noise(i) over the number of results that the row is made of.
  void terms(size_t i, size_t j, ResultTerms& bases) const;
  double covariance(size_t i, size_t j, const ResultTerms& variances) const;
  // The log rate that is expected before any result is seen, but for a constant.
  double expected(size_t i) const { return points_[i].expected; }
  bool knows_facts(size_t i) const { return points_[i].knows_facts; }
  // How many times the usual variance of its own a result has; 1 at first.
  void set_noise(size_t i, double times) { points_[i].own *= times; }

 private:
  struct Point {
    int family, model, scenario, version, generation, vendor, accelerator, submitter, system;
    bool knows_facts;
    double log_count, log_nodes, expected, own;
    ResultFacts facts;
  };
  std::vector<Point> points_;
};

}  // namespace perfcast::ai
