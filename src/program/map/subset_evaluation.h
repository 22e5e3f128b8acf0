#pragma once
// How much of a model's accuracy a part of the programs keeps. Program families are left out in turn; of the others a
// part is chosen, by their profiles alone, the model is fitted on it and forecasts the family. So nothing of the
// programs that are scored is seen, by the choice neither.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "program/corpus/corpus.h"
#include "program/evaluate/scores.h"

namespace perfcast::program {

struct SubsetEvaluationOptions {
  std::string model = "kernel";
  double keep_ratio = 0.5;   // of each fold's training programs, rounded up; in (0, 1)
  int64_t folds = 0;         // groups of families; 0: each family alone
  int64_t draws = 10;        // of each rule that draws
  int64_t inner_folds = 10;  // as FitOptions
  uint64_t seed = 1;
  int threads = 1;
  std::function<void(const std::string&)> progress = nullptr;  // from any thread, one call at a time
};

struct SubsetScore {
  std::string programs;  // "mean", "all", or a rule of subset_choice.h
  int64_t draws = 1;     // whose mean the numbers are
  Scores scores;         // on the entries that all rows have
  // Of the mean RPV's mean absolute error (of log relative times) the share that the model takes away.
  std::optional<double> accuracy;
  // That, and two R2, over those with all programs.
  std::optional<double> kept_accuracy, kept_r2_log, kept_r2_log_platform;
  std::optional<double> least_kept_accuracy, most_kept_accuracy;  // of the draws, where there are several
};

struct SubsetEvaluation {
  std::string model;
  double keep_ratio = 0.5;
  int64_t programs = 0, families = 0, platforms = 0, folds = 0;
  double trained = 0, kept = 0;  // programs, mean over the folds
  std::vector<SubsetScore> rows;
};

// "empty-corpus" with fewer than three families or two platforms; "unknown-model".
Result<SubsetEvaluation> evaluate_subsets(const TrainingTable& table, const SubsetEvaluationOptions& options);

std::string to_text(const SubsetEvaluation& evaluation);
Json to_json(const SubsetEvaluation& evaluation);  // perfcast.subset-evaluation/1

// How many of `programs` a share keeps: at least one.
int64_t kept_count(double keep_ratio, int64_t programs);

}  // namespace perfcast::program
