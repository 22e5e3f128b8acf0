#pragma once
// The transformers that a machine's model is learned from: nine of other sizes than those that are built in, and
// up to two large ones, timed over prompts and contexts of their own.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ai/transformer/transformer_model.h"
#include "ai/transformer_forecast/host_model.h"
#include "ai/transformer_forecast/host_rates.h"
#include "base/result.h"

namespace perfcast::ai {

struct CalibrationOptions {
  Precision precision = Precision::kFp32;
  int threads = 1;
  uint64_t seed = 1;
  bool quick = false;  // the three smallest alone, with short prompts: for tests and a rough look
  double most_weights =
      0;  // that a step of what will be forecast reads: large ones are timed as well where it takes them
};

// Of large ones as many as it takes until a step of one reads `most_weights`, or all.
Result<std::vector<TransformerModel>> calibration_models(const CalibrationOptions& options);

// Holds the transformers, up to 1.5 GB of weights in single precision (large ones: 2.5 GB more), and what was timed so
// far. Rounds may be run at several moments: medians of all are taken.
class HostCalibration {
 public:
  // Errors of Transformer::random().
  static Result<HostCalibration> create(const CalibrationOptions& options);

  // Everything once more: some ten seconds, with large ones up to a minute. "interrupted" where `is_interrupted`, which
  // is asked between steps, says so.
  Status run_round(const std::function<bool()>& is_interrupted = {});
  // What was timed until now.
  HostRates facts() const { return host_.facts(); }
  std::vector<StepSample> samples() const;
  Result<HostModel> fit() const { return HostModel::fit(facts(), options_.precision, samples()); }

 private:
  struct Subject {
    std::unique_ptr<Transformer> transformer;
    std::vector<StepMeasurement> steps;
  };
  HostCalibration(const CalibrationOptions& options, double most_bytes)
      : options_(options), host_(options.threads, most_bytes) {}

  CalibrationOptions options_;
  HostRateMeasurement host_;
  std::vector<Subject> subjects_;
};

// What ends a forecast that nobody waits for any more.
Error interrupted_forecast();

}  // namespace perfcast::ai
