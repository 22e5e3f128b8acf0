#include "ai/llm_forecast/forecast_sweep.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/unknown.h"

namespace perfcast::ai {
namespace {

template <typename Value>
std::optional<size_t> least_row(const std::vector<ForecastRow>& rows, Value value) {
  std::optional<size_t> least;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].may_run() || !std::isfinite(value(rows[i]))) continue;
    if (!least || value(rows[i]) < value(rows[*least])) least = i;
  }
  return least;
}

}  // namespace

std::optional<size_t> fastest_row(const std::vector<ForecastRow>& rows) {
  return least_row(rows, [](const ForecastRow& row) { return row.latency_s(); });
}

std::optional<size_t> cheapest_row(const std::vector<ForecastRow>& rows) {
  return least_row(rows, [](const ForecastRow& row) { return row.cost_per_million; });
}

ForecastRow row_of(const LlmForecast& forecast, uint32_t device) {
  ForecastRow row;
  row.device = device;
  row.batch = forecast.request.batch;
  row.sequence = forecast.request.sequence;
  row.tensor_parallel = forecast.request.tensor_parallel;
  row.generates = forecast.generates;
  row.calibrated = forecast.calibrated;
  row.mode = forecast.prefill.mode;
  // An engine's own times hold no kernel's.
  const auto measured = [&](const StepTime& step) {
    return forecast.basis != TimeBasis::kEngine && step.device_seconds > 0 ? step.measured_seconds / step.device_seconds
                                                                           : 0;
  };
  row.prefill_measured = measured(forecast.prefill);
  row.token_measured = forecast.generates ? measured(forecast.token) : 0;
  row.prefill_s = forecast.prefill_s;
  row.prefill_lower_s = forecast.prefill.lower_s(kInterval90);
  row.prefill_upper_s = forecast.prefill.upper_s(kInterval90);
  row.prefill_roofline_s = forecast.prefill.roofline_s;
  row.prefill_bound = forecast.prefill.bound();
  row.token_s = forecast.token_s;
  row.token_lower_s = row.token_upper_s = row.token_roofline_s = kUnknown;
  row.token_bound = row.prefill_bound;
  if (forecast.generates) {
    row.token_lower_s = forecast.token.lower_s(kInterval90);
    row.token_upper_s = forecast.token.upper_s(kInterval90);
    row.token_roofline_s = forecast.token.roofline_s;
    row.token_bound = forecast.token.bound();
  }
  row.tokens_per_s = forecast.tokens_per_s;
  row.lower = forecast.lower;
  row.upper = forecast.upper;
  row.request_s = forecast.request_s;
  row.output_per_s = forecast.output_per_s;
  row.client_token_s = forecast.client_token_s;
  row.basis = forecast.basis;
  row.engine_unmeasured = forecast.engine_unmeasured;
  row.model_bytes = forecast.memory.model();
  row.memory_bytes = forecast.memory.total;
  row.missing_bytes = forecast.memory.missing();
  row.memory_known = forecast.memory.known();
  row.fits = forecast.memory.fits();
  row.power_w = forecast.power_w;
  row.power_is_modelled = forecast.power_is_modelled;
  row.energy_j_per_million = forecast.energy_j_per_million;
  row.energy_lower_j_per_million = row.energy_upper_j_per_million = kUnknown;
  if (forecast.power_is_modelled) {
    const double ratio = forecast.energy_ratio90();
    row.energy_lower_j_per_million = forecast.energy_j_per_million / ratio;
    row.energy_upper_j_per_million = forecast.energy_j_per_million * ratio;
  }
  row.cost_per_million = forecast.cost_per_million;
  return row;
}

Result<SweepResult> sweep_forecasts(std::vector<LlmForecaster>& devices, const SweepGrid& grid) {
  const size_t axes[] = {devices.size(), grid.batches.size(), grid.sequences.size(), grid.tensor_parallels.size()};
  size_t size = 1;
  for (const size_t axis : axes) {
    if (axis == 0)
      return usage_error("bad-usage", "nothing to sweep over", "sweep", "one value at the least for each axis");
    if (axis > kMostConfigurations / size) {
      return usage_error("bad-usage", "more than " + std::to_string(kMostConfigurations) + " configurations", "sweep",
                         "fewer batches, sequences, degrees or devices");
    }
    size *= axis;
  }
  SweepResult result;
  result.rows.reserve(size);
  LlmForecast forecast;
  LlmRequest request = grid.request;
  for (size_t device = 0; device < devices.size(); ++device) {
    for (const int64_t degree : grid.tensor_parallels) {
      request.tensor_parallel = degree;
      for (const int64_t sequence : grid.sequences) {
        request.sequence = sequence;
        for (const int64_t batch : grid.batches) {
          request.batch = batch;
          if (Status status = devices[device].forecast(request, forecast); !status) {
            if (result.refused++ == 0) result.refusal = status.error();
            continue;
          }
          result.rows.push_back(row_of(forecast, static_cast<uint32_t>(device)));
        }
      }
    }
  }
  return result;
}

std::vector<bool> pareto_rows(const std::vector<ForecastRow>& rows) {
  const auto latency = [&](size_t i) { return rows[i].latency_s(); };
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (latency(a) != latency(b)) return latency(a) < latency(b);
    return rows[a].tokens_per_s > rows[b].tokens_per_s;
  });
  std::vector<bool> best(rows.size(), false);
  double most = 0;
  for (const size_t i : order) {
    if (!rows[i].may_run() || !(rows[i].tokens_per_s > most)) continue;
    most = rows[i].tokens_per_s;
    best[i] = true;
  }
  return best;
}

}  // namespace perfcast::ai
