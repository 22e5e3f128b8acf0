#pragma once
// Forecast beside measurement: what a model of this machine, learned from other transformers, says of one that runs
// here, and what it then takes.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ai/transformer_forecast/host_model.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast {
enum class EnergyScope;
struct MeterSet;
}  // namespace perfcast

namespace perfcast::ai {

inline constexpr int64_t kMostComparedBatch = 64;

struct ComparisonRequest {
  std::vector<std::string> models;  // names or paths, as open_transformer() takes them
  Precision precision = Precision::kFp32;
  int threads = 1;
  std::vector<int64_t> batches = {1};
  int64_t prompt_tokens = 128, new_tokens = 64;  // of each sequence
  int64_t rounds = 3;                            // calibration and measurement in turns
  uint64_t seed = 1;
  bool quick = false;  // a short calibration, for tests and a rough look
  // Read while the calibration runs; null: none.
  const MeterSet* meters = nullptr;
  std::function<bool()> is_interrupted;  // asked between steps; empty: never
};

struct ComparedOperator {
  OperatorForecast forecast;
  std::optional<double> measured_s;  // absent: it wasn't timed
  bool outside() const { return measured_s && (*measured_s < forecast.lower_s || *measured_s > forecast.upper_s); }
};

struct ComparedStep {
  StepPoint point;  // decode: at the mean context of the new tokens
  StepForecast forecast;
  double measured_s = 0;
  int64_t runs = 0;
  double wall_ratio = 1;  // see StepTimes, as
  double halves_difference_ratio = kUnknown;
  double footprint_bytes = 0;  // weights and cache that it reads
  std::vector<ComparedOperator> operators;

  // Of a step that has an interval at all.
  bool outside() const { return measured_s < forecast.lower_s || measured_s > forecast.upper_s; }
  bool has_interval() const { return forecast.beyond.empty(); }
  double error() const { return forecast.seconds / measured_s - 1; }
  double roofline_error() const { return forecast.roofline_s / measured_s - 1; }
  // The operator that adds the most to the difference, of those that were timed; null where none was.
  const ComparedOperator* farthest() const;
  // Of the whole batch: prompts' tokens, or new ones.
  double tokens_per_s(double seconds) const;
  // Of a token's step: what it reads a second over what this machine reads where it goes through so many bytes.
  double read_share(const HostRates& facts) const {
    return footprint_bytes / measured_s / facts.read_bytes_per_s(footprint_bytes);
  }
};

struct ComparedTransformer {
  LlmConfig config;
  double parameters = 0;
  bool random_weights = true;
  // What `llm analyze` says that weights, cache and activations take at the largest batch; what the transformer says
  // that it holds; how much larger this process became.
  double forecast_memory_bytes = 0, held_bytes = 0, resident_bytes = 0;
  std::vector<ComparedStep> steps;  // for each batch the prompt, then a token
};

struct TransformerComparison {
  ComparisonRequest request;
  HostRates facts;
  std::vector<ComparedTransformer> models;
  double left_out_prefill_error = 0, left_out_decode_error = 0;  // of the calibration's transformers
  std::vector<LeftOutStep> left_out;
  std::shared_ptr<const HostModel> host;  // for forecasts of other points
  // What the machine drew while the calibration's transformers ran, and of what: the widest scope that has CPUs in it
  // and joules in every round; NaN where there is none.
  double calibration_w = kUnknown;
  std::optional<EnergyScope> power_scope;
  double took_s = 0;
};

// `progress` is told what begins; it may be empty. Errors of open_transformer(), check of the request: "bad-usage";
// "interrupted".
Result<TransformerComparison> compare_with_forecast(const ComparisonRequest& request,
                                                    const std::function<void(const std::string&)>& progress);

// What is said of a comparison of one model or several: mean errors, and how many steps lie in their intervals.
struct ComparisonScores {
  int64_t steps = 0, with_interval = 0, inside = 0;
  double mean_error = 0, roofline_mean_error = 0, worst_error = 0;  // relative to what was measured
  // What was measured in half of the rounds against the other half, the mean: no forecast is held to less. NaN of one
  // round.
  double noise_floor = kUnknown;
};
ComparisonScores scores_of(const std::vector<ComparedStep>& steps);

std::string to_text(const TransformerComparison& comparison, bool operators);
// What was aimed at, and whether it was reached: for a benchmark's last lines.
std::string goals_text(const TransformerComparison& comparison);
Json to_json(const TransformerComparison& comparison);  // schema perfcast.bench.forecast/1

}  // namespace perfcast::ai
