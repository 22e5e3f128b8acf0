#pragma once
// What `perfcast predict` says of a platform that joined a bundle by `perfcast adapt`: of programs that neither the
// model was trained on nor anybody ran there. Core designs are left out with all their platforms, families of programs
// with all their programs; a bundle is trained on the rest, adapted, and asked.

#include <cstdint>
#include <string>
#include <vector>

#include "program/corpus/corpus.h"
#include "program/model/adapt/transfer_prior.h"

namespace perfcast::program::adapt_study {

struct PredictCoverageOptions {
  std::vector<size_t> counts = {0, 5, 20};  // programs run on the new platform
  std::string model = "cores:stack";
  int64_t inner_folds = 5;  // FitOptions::inner_folds
  size_t designs = 100;     // left out, drawn; all where there are fewer
  size_t platforms = 2;     // of each such design, drawn
  size_t folds = 4;         // that families are dealt to
  size_t folds_run = 2;     // of them
  std::string only_design;  // the only one to leave out; empty: drawn
  uint64_t seed = 1;
  int threads = 1;
  TransferOptions transfer;
};

// Of one group of programs ("": all) and number of measured programs.
struct PredictPoint {
  std::string group;
  size_t count = 0;
  double median_error = 0;  // of |exp(forecast - measured) - 1|, times over the mean of the platforms
  double coverage_90 = 0;   // share of the new platforms' entries within their interval
  // The same of the third of them on which the model's parts agree most, and least; 0: too few.
  double coverage_agreed = 0, coverage_disagreed = 0;
  double half_width = 0;  // log, of a typical interval
  // The same of the known platforms in the same bundles: what the intervals of a trained model cover.
  double known_error = 0, known_coverage_90 = 0, known_half_width = 0;
  int64_t entries = 0;  // of new platforms
};

struct PredictCoverage {
  std::vector<PredictPoint> points;
  std::vector<std::string> designs;  // left out
};

// "unknown-design"; else as train_bundle() and PlatformAdaptation::start().
Result<PredictCoverage> predict_coverage(const TrainingTable& table, const PredictCoverageOptions& options);

}  // namespace perfcast::program::adapt_study
