#pragma once
// Splits to scores: fits models on the training side of every fold, scores them on the other, beside the baselines.

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "corpus/corpus.h"
#include "corpus/splits.h"
#include "evaluate/noise_floor.h"
#include "evaluate/order_roc.h"
#include "evaluate/paired_comparison.h"
#include "evaluate/scores.h"
#include "model/predictor.h"

namespace perfcast {

struct EvaluationOptions {
  std::vector<std::string> models;
  Split split = Split::kProgramFamily;
  int64_t folds = 0;     // as make_folds()
  bool holdout = false;  // only the first fold is tested: with 5 folds, one 80-20 split
  int64_t seeds = 1;     // repetitions; folds and fits of repetition i use seed + i
  uint64_t seed = 1;
  int threads = 1;
  std::string reference;  // as find_platform(); empty or "mean": the geometric mean over the platforms
  // Platforms on which each tested program counts as measured: chosen on the training rows, given to the forecast by
  // conditioning, left out of the scores. Not under the split platform.
  int64_t measured = 0;
  bool intervals = true;  // as FoldOptions; without, the scores come much sooner and say nothing about coverage
  // Groups of training families left out in turn to calibrate intervals and to choose a model, as FitOptions; 0: each
  // family alone, which costs families / inner_folds times as much.
  int64_t inner_folds = 10;
  Json settings = nullptr;                           // as FitOptions
  FitCheckpoint* checkpoint = nullptr;               // likewise; fits without intervals alone
  std::function<void(const std::string&)> progress;  // from any thread, one call at a time
};

struct EvaluationRow {
  std::string model, group;  // group "all": every program
  Scores scores;
  std::string note;
  Scores spread;  // standard deviations over the repetitions; none with one seed
  OrderScores order = {};
};

struct FamilyRow {
  std::string model, family, group;
  Scores scores;
};

struct ProgramRow {
  std::string model, program, family, group;
  int64_t n = 0;
  double mape = 0;
  // The entry with the largest error: relative times.
  std::string worst_platform;
  double worst_measured_ratio = 0, worst_predicted_ratio = 0;
};

struct MeasuredPlatform {
  std::string platform;    // id
  double folds_share = 0;  // of the folds that chose it
};

// What figures are drawn from: the entries of the first repetition. Rows and columns are those of the table.
struct FigureData {
  struct Row {
    std::string program, family, group;
  };
  struct Model {
    std::string name;
    ScoreInput entries;  // an entry that was not tested lacks truth or forecast
  };
  std::vector<Row> rows;
  std::vector<std::string> platform_names;  // verbatim
  std::vector<Model> models;                // the mean first
  MajorityVotes votes;                      // by row
};

struct Evaluation {
  Split split = Split::kProgramFamily;
  int64_t folds = 0, seeds = 1, programs = 0, families = 0;
  std::vector<std::string> platforms;      // ids
  std::string reference;                   // id; empty: geometric mean
  std::vector<MeasuredPlatform> measured;  // most often chosen first
  std::vector<EvaluationRow> rows;     // mean, majority, models, noise-floor; groups in order of the table, then `all`
  std::vector<FamilyRow> by_family;    // worst first within a model
  std::vector<ProgramRow> by_program;  // worst first within a model
  std::vector<PairedComparison> comparisons;  // of the rows that forecast times, but the noise floor
  std::vector<std::string> notes;
  FigureData figures;
};

// Of its rows, in order of first appearance: "all" is the last.
std::vector<std::string> groups_of(const Evaluation& evaluation);

// Deterministic in the options whatever `threads` is. "unknown-model", "unknown-platform", "bad-usage", "empty-corpus"
// (too little to split), or what a fit failed with, naming model and fold.
Result<Evaluation> evaluate(const TrainingTable& table, const EvaluationOptions& options);

}  // namespace perfcast
