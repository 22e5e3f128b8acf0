#pragma once
// What models say of programs where they were fitted on a part of the others.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"
#include "program/corpus/splits.h"

namespace perfcast::program {

struct SubsetFitOptions {
  std::string model = "kernel";
  uint64_t seed = 1;
  int64_t inner_folds = 10;  // as FitOptions
};

// [P x J] 1 where the program has a time on the platform, else 0.
Eigen::MatrixXd timed_entries(const TrainingTable& table);

// [profiles x J] log relative times by the model fitted on these rows of the table; NaN on platforms where none of the
// rows was timed. "unmeasured" where the rows were timed on fewer than two platforms.
Result<Eigen::MatrixXd> forecast_from(const TrainingTable& table, const std::vector<size_t>& rows,
                                      const SubsetFitOptions& options, const std::vector<const Profile*>& profiles);

// One way to choose among the rows that a fold may be trained on. `fold`: its index; from any thread.
using RowChoice = std::function<std::vector<size_t>(size_t fold)>;

// [choice] of [P x J]: each program by the fold that left it out. Fits choices x folds models on so many threads.
Result<std::vector<Eigen::MatrixXd>> forecast_left_out(const TrainingTable& table, const std::vector<Fold>& folds,
                                                       const std::vector<RowChoice>& choices,
                                                       const std::vector<SubsetFitOptions>& options, int threads,
                                                       const std::function<void(const std::string&)>& progress);

}  // namespace perfcast::program
