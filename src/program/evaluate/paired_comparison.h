#pragma once
// Which of two models forecasts the same left-out programs better, and whether that could be chance.
//
// Entries of one program are not independent samples of a model's quality, nor are programs of one family. What the
// split leaves out as a whole is: the "units" are families under program-family, programs (without their inputs) under
// program, programs with their inputs under workload, platforms under platform. Under random they are the table's rows;
// where a program has several, its intervals flatter as the split itself does.
//
// The interval is that of a paired cluster bootstrap (Davison & Hinkley 1997, 2.4 and 3.8): units are drawn with
// replacement, each with the differences of all its samples, and the mean over the samples is taken anew. Its
// percentiles are widened for few units as Hesterberg (2015, "What teachers should know about the bootstrap", 4.3)
// does: Phi(-sqrt(n / (n - 1)) t) instead of 0.025, with t Student's 0.975 quantile at n - 1 degrees of freedom.
// Intervals hold one by one, not for all comparisons of an evaluation together.

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/corpus/corpus.h"
#include "program/corpus/splits.h"
#include "program/evaluate/scores.h"

namespace perfcast::program {

inline constexpr int64_t kBootstrapResamples = 2000;
// All n units lie on one side of the true median with probability 2 / 2^n: below 6 units no set of them excludes 0 at
// the level of 5%, and there is no interval.
inline constexpr int64_t kFewestUnits = 6;
// Up to so many models are compared each with each other; of more, each with the best.
inline constexpr size_t kEachWithEach = 4;

struct PairedComparison {
  std::string a, b, group;
  std::string metric;                  // "mae_log" (lower is better) or "pair_order" (higher is better)
  double difference = 0;               // score of a minus score of b
  std::optional<double> lower, upper;  // 95%; absent below kFewestUnits
  bool significant = false;            // the interval excludes 0
  int64_t units = 0;                   // with at least one sample
};

struct MeanDifference {
  double difference = 0;  // sum over all units / count over all units
  std::optional<double> lower, upper;
  int64_t units = 0;
  bool significant() const { return lower && upper && (*lower > 0 || *upper < 0); }
};

// The share of resamples to leave out on either side of a 95% interval from `units` units, two or more.
double bootstrap_tail_share(int64_t units);

// Of each column by itself; all columns share their draws. Rows are units. `sums`: of the differences of a unit's
// samples; `counts`: how many samples (a weight, so fractions are fine), 0 where it has none. Columns without any
// sample have 0 units. Deterministic in `seed`; swapping a and b (-sums) swaps the signs and the bounds.
std::vector<MeanDifference> bootstrap_mean_difference(const Eigen::MatrixXd& sums, const Eigen::MatrixXd& counts,
                                                      uint64_t seed, int64_t resamples = kBootstrapResamples);

// One model's forecasts, per repetition (seed): truth and predicted, rows and columns of the table. Repetitions are the
// same for all models that are compared.
struct ComparedModel {
  std::string name;
  double mae_log = 0;  // of all programs: the best model has the lowest
  std::vector<ScoreInput> repetitions;
};

// The better model (by mae_log over all programs) is `a`. Samples are those that both models have; a unit's samples
// of several repetitions count as one unit's, so that seeds don't pass for more programs. Per pair, for each group of
// the table in order of appearance, then "all": mae_log, pair_order. Under the split platform no pair_order: a pair of
// platforms belongs to two units. Groups without a sample are left out.
std::vector<PairedComparison> compare_models(const TrainingTable& table, Split split, std::vector<ComparedModel> models,
                                             uint64_t seed);

}  // namespace perfcast::program
