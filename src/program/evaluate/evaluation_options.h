#pragma once
// What an evaluation is asked for.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "program/corpus/splits.h"

namespace perfcast::program {

class FitCheckpoint;

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
  // conditioning, left out of the scores. Not where platforms are left out.
  int64_t measured = 0;
  bool own_times = false;  // own_times_by_design() as a row; not where platforms are left out
  bool intervals = true;   // as FoldOptions; without, the scores come much sooner and say nothing about coverage
  // Groups of training families left out in turn to calibrate intervals and to choose a model, as FitOptions; 0: each
  // family alone, which costs families / inner_folds times as much.
  int64_t inner_folds = 10;
  std::shared_ptr<const Json> settings;              // as FitOptions; null: none
  FitCheckpoint* checkpoint = nullptr;               // likewise; fits without intervals alone
  std::function<void(const std::string&)> progress;  // from any thread, one call at a time
};

}  // namespace perfcast::program
