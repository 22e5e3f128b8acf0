#pragma once
// Reader of NeuSight's published measurements (Lee, Phanishayee, Mahajan, "Forecasting GPU Performance for Deep
// Learning Training and Inference", ASPLOS 2025): operator latencies on GPUs, times of whole models, and what four
// predictors said of them. All fp32.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ai/latency/fit/gpu_fit.h"
#include "ai/latency/model/measured_operator.h"
#include "base/result.h"

namespace perfcast::ai::latency_study {

struct NeusightProduct : ProfiledProduct {
  std::string device;
};

struct NeusightVector {
  std::string device;
  std::string op;  // "add", "addu", "ln", "softmax", ...
  double rows = 0, columns = 0;
  double seconds = 0;
};

// Nothing for operators that are neither fitted nor forecast.
std::optional<VectorKind> vector_kind(std::string_view op);

struct NeusightOperators {
  std::vector<NeusightProduct> products;
  std::vector<NeusightVector> vectors;
};

// ops_train.csv, ops_test.csv. Convolutions are left out. "bad-neusight" and CSV's errors.
Result<NeusightOperators> parse_neusight_operators(std::string_view csv, const std::string& source);

// A part of one traced operator: "Linear:4096x1024x1024", "BMM:...", "VECadd:...", "MEM:...".
struct TracedPart {
  enum class Kind : uint8_t { kLinear, kBatched, kVector, kMemory };
  Kind kind = Kind::kMemory;
  std::string op;  // of a vector part
  ProductShape shape;
  double rows = 0, columns = 0;
  std::vector<double> tensors;  // values of each tensor of a memory part, the result last
};

struct TracedOperator {
  std::string segment;  // "begin", "layer", "end"
  std::string op;
  std::vector<TracedPart> parts;
  double label_forward_s = 0, label_backward_s = 0;  // label_backward_s holds gradient accumulation
};

// One configuration that was timed as a whole.
struct TimedModel {
  std::string device, model;  // device: as the folder names write it, with '_' for ' '
  bool training = false;
  int64_t sequence = 0, batch = 0, layers = 0;
  double seconds = 0, forward_s = 0, backward_s = 0;
  std::vector<TracedOperator> operators;  // empty: not traced
};

// e2e_labels.csv and e2e_per_op.csv: configurations without an option (fusion, several GPUs).
Result<std::vector<TimedModel>> parse_neusight_models(std::string_view labels_csv, const std::string& labels_source,
                                                      std::string_view operators_csv,
                                                      const std::string& operators_source);

// What a published predictor said: e2e_predictions.csv, configurations with a label and without an option.
struct PublishedPrediction {
  std::string device, method, model;
  bool training = false;
  int64_t sequence = 0, batch = 0;
  double seconds = 0, label_s = 0;
};
Result<std::vector<PublishedPrediction>> parse_neusight_predictions(std::string_view csv, const std::string& source);

struct NeusightData {
  NeusightOperators train, test;
  std::vector<TimedModel> models;
  std::vector<PublishedPrediction> predictions;
};
// The folder with ops_train.csv(.gz), ops_test.csv(.gz), e2e_labels.csv, e2e_per_op.csv(.gz), e2e_predictions.csv.
Result<NeusightData> read_neusight(const std::string& folder);

}  // namespace perfcast::ai::latency_study
