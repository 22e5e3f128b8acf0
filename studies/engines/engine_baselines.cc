#include "studies/engines/engine_baselines.h"

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "ai/latency/fit/bounded_least_squares.h"
#include "ai/llm/model_catalogue.h"
#include "ai/llm_forecast/llm_forecast.h"

namespace perfcast::ai::engines_study {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

auto setting_of(const EngineRow& row) {
  return std::tuple(row.device_name, row.model_name, row.work.request.prompt_tokens, row.work.request.tensor_parallel);
}

}  // namespace

BaselineForecast kernels_alone(const EngineRow& row, const DeviceProvider& devices) {
  BaselineForecast none = {{kUnknown, kUnknown, kUnknown}, 0, 0};
  const auto model = devices.find(row.device.name);
  auto config = built_in_model(row.model_name);
  if (!model || !config) return none;
  auto forecaster = LlmForecaster::create(std::move(*config), *model);
  if (!forecaster) return none;
  const EngineRequest& asked = row.work.request;
  LlmRequest request;
  request.sequence = asked.prompt_tokens;
  request.output_tokens = asked.output_tokens;
  request.tensor_parallel = asked.tensor_parallel;
  request.weights = asked.weights;
  request.activations = asked.activations;
  request.kv = asked.kv;
  LlmForecast forecast;
  if (!forecaster->forecast(request, forecast)) return none;
  return {{forecast.token_s, forecast.prefill_s,
           client_token_s(forecast.prefill_s, forecast.token_s, static_cast<double>(asked.output_tokens))},
          forecast.token.log_sd,
          forecast.prefill.log_sd};
}

Result<std::vector<double>> four_constants(const std::vector<EngineRow>& rows, const std::vector<bool>& use,
                                           EngineTarget target) {
  const bool first = target == EngineTarget::kFirstToken;
  const auto seconds = [&](const EngineRow& row, const VectorXd& logs) {
    const EngineWork& work = row.work;
    const double prompt = static_cast<double>(work.request.prompt_tokens);
    const double bound = first ? prompt * work.product_flops / row.device.peak(MathMode::kHalf)
                               : (work.weight_bytes(1) + work.head_bytes) / row.device.memory_bytes_per_s;
    const double last = first ? prompt : work.cache_bytes_per_token * work.attention_layers * work.context_tokens();
    return std::exp(logs[0]) + std::exp(logs[1]) * work.layers + bound / std::exp(logs[2]) + std::exp(logs[3]) * last;
  };
  std::map<decltype(setting_of(rows.front())), double> counts;
  std::vector<size_t> used;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!use[i]) continue;
    used.push_back(i);
    counts[setting_of(rows[i])] += 1;
  }
  const auto residuals = [&](const VectorXd& logs, Eigen::Ref<VectorXd> out) {
    for (size_t i = 0; i < used.size(); ++i) {
      const EngineRow& row = rows[used[i]];
      out[static_cast<Index>(i)] =
          std::log(seconds(row, logs) / measured_s(row, target)) / std::sqrt(counts[setting_of(row)]);
    }
  };
  VectorXd start(4), lower = VectorXd::Constant(4, -40), upper = VectorXd::Constant(4, 5);
  start << std::log(1e-3), std::log(20e-6), std::log(0.7), std::log(first ? 1e-5 : 1e-12);
  const auto fit = fit_bounded(residuals, static_cast<Index>(used.size()), start, lower, upper);
  if (!fit) return fit.error();
  std::vector<double> forecasts;
  for (const EngineRow& row : rows) forecasts.push_back(seconds(row, fit->parameters));
  return forecasts;
}

std::vector<double> other_servers(const std::vector<EngineRow>& rows, EngineTarget target) {
  std::vector<double> forecasts;
  for (const EngineRow& row : rows) {
    double sum = 0, count = 0;
    for (const EngineRow& other : rows) {
      if (&other == &row || other.server == row.server || setting_of(other) != setting_of(row)) continue;
      sum += std::log(measured_s(other, target));
      count += 1;
    }
    forecasts.push_back(count > 0 ? std::exp(sum / count) : kUnknown);
  }
  return forecasts;
}

}  // namespace perfcast::ai::engines_study
