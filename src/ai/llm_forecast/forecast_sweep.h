#pragma once
// Forecasts over batch x sequence x tensor-parallel degree x devices, as flat rows.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ai/llm_forecast/llm_forecast.h"
#include "base/result.h"

namespace perfcast::ai {

// An LlmForecast in brief. Absent figures are NaN.
struct ForecastRow {
  uint32_t device = 0;  // of the sweep's forecasters
  int64_t batch = 0, sequence = 0, tensor_parallel = 0;
  double prefill_s = 0, prefill_lower_s = 0, prefill_upper_s = 0, prefill_roofline_s = 0;
  double token_s = 0, token_lower_s = 0, token_upper_s = 0, token_roofline_s = 0;
  double tokens_per_s = 0, lower = 0, upper = 0;
  double request_s = 0, output_per_s = 0, client_token_s = 0;
  double model_bytes = 0, memory_bytes = 0, missing_bytes = 0;
  double power_w = 0, energy_j_per_million = 0, cost_per_million = 0;
  double prefill_measured = 0, token_measured = 0;  // share of the kernels' time that was measured on this device
  double energy_lower_j_per_million = 0, energy_upper_j_per_million = 0;  // 90%; of modelled power alone
  Bound prefill_bound = Bound::kCompute, token_bound = Bound::kCompute;
  MathMode mode = MathMode::kFp32;
  TimeBasis basis = TimeBasis::kKernels;
  uint32_t engine_unmeasured = 0;
  bool generates = true, calibrated = false, memory_known = false, fits = false, power_is_modelled = false;

  Bound bound() const { return generates ? token_bound : prefill_bound; }
  double latency_s() const { return generates ? token_s : prefill_s; }  // of encoders: of the whole batch
  bool may_run() const { return fits || !memory_known; }
};
ForecastRow row_of(const LlmForecast& forecast, uint32_t device);

struct SweepGrid {
  LlmRequest request;  // precisions, output_tokens, attention
  std::vector<int64_t> batches = {1}, sequences = {1}, tensor_parallels = {1};
  size_t size() const { return batches.size() * sequences.size() * tensor_parallels.size(); }
};
inline constexpr size_t kMostConfigurations = 400'000;  // a report of them takes about 4 KiB each

struct SweepResult {
  std::vector<ForecastRow> rows;  // by device, tensor-parallel degree, sequence, batch
  size_t refused = 0;             // configurations that this model or device can't have
  std::optional<Error> refusal;   // the first
};

// "bad-usage" where the grid is empty or has more than kMostConfigurations; a configuration that is refused is
// counted. Allocates the rows once.
Result<SweepResult> sweep_forecasts(std::vector<LlmForecaster>& devices, const SweepGrid& grid);

// Of rows with one device, degree and sequence each: those that no other row of `rows` beats in both the time per token
// and tokens/s. Rows that don't fit don't count.
std::vector<bool> pareto_rows(const std::vector<ForecastRow>& rows);

// Indexes of the row with the least time per token (of encoders: of the batch) and of that with the least cost, the
// first of equals. Rows that don't fit don't count; absent where there is none.
std::optional<size_t> fastest_row(const std::vector<ForecastRow>& rows);
std::optional<size_t> cheapest_row(const std::vector<ForecastRow>& rows);

}  // namespace perfcast::ai
