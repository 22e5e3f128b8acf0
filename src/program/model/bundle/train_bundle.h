#pragma once
// From a training table to a bundle: fit, calibrate on out-of-family predictions, measure what is usual.

#include <string>

#include "base/result.h"
#include "program/corpus/corpus.h"
#include "program/model/bundle/bundle.h"

namespace perfcast::program {

struct TrainOptions {
  std::string model = "stack";  // of predictor_families()
  double coverage = 0.9;
  FitOptions fit = {};
};

// Everything but card and servers is filled in. The same table and options give the same bundle. "unknown-model",
// "too-few-families", or what the fit fails with.
Result<Bundle> train_bundle(const TrainingTable& table, const TrainOptions& options);

}  // namespace perfcast::program
