#pragma once
// An engine's constants from its measured single streams.

#include <cstdint>
#include <string>
#include <vector>

#include "ai/engine/engine_profile.h"
#include "ai/engine/engine_step.h"
#include "ai/engine/host_level.h"
#include "ai/engine/vllm_points.h"
#include "ai/latency/model/device_catalogue.h"
#include "base/result.h"

namespace perfcast::ai {

// One measured stream with all that its forecast needs.
struct EngineRow {
  std::string device_name, model_name;  // as the points name the device, as perfcast names the model
  std::string server;                   // "gcp/a2-highgpu-1g"
  EngineWork work;
  DeviceFacts device;
  EngineHost host;
  double further_s = 0, first_s = 0, client_token_s = 0;
  double weight = 1;  // rows of one device, model, prompt and degree weigh 1 together

  bool is_several() const { return work.request.tensor_parallel > 1; }
};

struct EngineRows {
  std::vector<EngineRow> rows;
  int64_t combinations = 0;        // of device, model, prompt and degree
  std::vector<std::string> notes;  // what could not be joined, and why
};

// Joins points with facts. A slice of a card ("NVIDIA A40-16Q") has the facts of the card. Rows whose device or model
// nobody knows are left out, with a note.
EngineRows engine_rows(const std::vector<VllmPoint>& points, const DeviceCatalogue& devices, const HostLevels& hosts);

// Weights such that the rows of each combination, those with `use`, weigh 1 together; 0 without.
void weigh_rows(std::vector<EngineRow>& rows);

// Fits the constants of further tokens, then of first tokens, on rows with `use` (empty: all): the sum of Huber losses
// of log errors (threshold 0.1, scale 0.05), and weak log-normal priors about what such constants usually are. Rules
// and what isn't fitted are those of `start`. Deterministic. "too-few-rows" below 20; "bad-fit".
Result<EngineProfile> fit_engine(const EngineProfile& start, const std::vector<EngineRow>& rows,
                                 const std::vector<bool>& use = {});

// vLLM's rules, before anything is fitted: the centres of the priors.
EngineProfile vllm_rules();

// Forecasts of single rows by a profile.
struct EngineRowForecast {
  double further_s = 0, first_s = 0, client_token_s = 0;
};
EngineRowForecast forecast_row(const EngineProfile& profile, const EngineRow& row);

// What the interval of a new device or model is made of: groups that were left out, and their errors.
struct LeftOutResidual {
  std::string group;
  double log_ratio = 0, weight = 1;
};
struct LeftOutSpread {
  double log_sd = 0;  // root of the mean over groups of their weighted mean squares
  int64_t groups = 0;
};
LeftOutSpread left_out_spread(const std::vector<LeftOutResidual>& residuals);

}  // namespace perfcast::ai
