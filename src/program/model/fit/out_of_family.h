#pragma once
// Forecasts for each program from a fit that never saw its family.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"
#include "program/model/fit/targets.h"
#include "program/model/predictor.h"

namespace perfcast::program {

// Each program's forecast by a model that `make` gives, fitted without the program's family:
// Predictor::out_of_family().
using MakePredictor = std::function<Result<std::unique_ptr<Predictor>>()>;
Result<Prediction> predict_out_of_family(const MakePredictor& make, const TrainingTable& table,
                                         const FitOptions& options);
// Which of FitOptions::inner_folds groups each program is left out with, 0 to the number of groups - 1.
std::vector<int64_t> left_out_with(const Targets& targets, const FitOptions& options);

}  // namespace perfcast::program
