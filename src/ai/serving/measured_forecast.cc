#include "ai/serving/measured_forecast.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace perfcast::ai {
namespace {

EngineLimits limits_for(const MeasuredSteps& steps, const ServingRequestFor& request) {
  EngineLimits limits = steps.limits;
  if (request.max_sequences) limits.max_sequences = *request.max_sequences;
  limits.step_tokens = request.step_tokens.value_or(std::max(limits.step_tokens, limits.max_sequences));
  if (request.context_tokens > 0) limits.context_tokens = request.context_tokens;
  limits.cache_tokens =
      request.cache_tokens.value_or(limits.max_sequences * steps.limits.cache_tokens / steps.limits.max_sequences);
  limits.cache_reserve_share = request.cache_reserve_share;
  limits.chunked_prefill = request.chunked_prefill;
  limits.receive_steps = request.receive_steps;
  return limits;
}

ServingRow row_of(size_t load, const ServingTrace& trace, int64_t replicas, const EngineLimits& limits) {
  ServingRow row;
  row.load = load;
  row.devices = replicas;
  row.limits = limits;
  row.requests = static_cast<int64_t>(trace.requests.size());
  for (const ServingRequest& request : trace.requests) {
    row.prompt_tokens += static_cast<double>(request.prompt_tokens) / static_cast<double>(row.requests);
    row.output_tokens += static_cast<double>(request.output_tokens) / static_cast<double>(row.requests);
  }
  return row;
}

}  // namespace

void take_engine(const MeasuredSteps& steps, ServingRequestFor& request) {
  auto profile = std::make_shared<EngineProfile>();
  profile->name = "perfcast bench serve";
  profile->version = std::to_string(steps.threads) + (steps.threads == 1 ? " thread" : " threads");
  profile->basis = EngineBasis::kMeasured;
  request.profile = std::move(profile);
  request.config.name = steps.model;
  request.config.source = "steps measured";
  if (const auto weights = precision_named(steps.weights)) request.formats.weights = *weights;
  request.formats.activations = request.formats.kv = Precision::kFp32;
  request.formats.tensor_parallel = 1;
  ServingDevice device;
  device.facts.name = steps.cpu.empty() ? "this machine" : steps.cpu;
  device.host.cpu = steps.cpu;
  device.host.known = true;
  request.devices = {std::move(device)};
}

Result<ServingResult> forecast_measured(const MeasuredSteps& steps, ServingRequestFor request, const TakeRun& take) {
  ServingResult result;
  result.parameters = static_cast<int64_t>(steps.parameters);
  result.request = std::move(request);
  const ServingRequestFor& asked = result.request;
  ServeOptions options;
  options.limits = limits_for(steps, asked);
  options.replicas = asked.replicas;
  options.router = asked.router;
  bool any = false;
  for (size_t load = 0; load < asked.loads.size(); ++load) {
    const ServingTrace trace = asked.loads[load].trace();
    options.concurrency = asked.loads[load].concurrency;
    options.most_in_flight = asked.loads[load].most_in_flight;
    ServingRow row = row_of(load, trace, asked.replicas, options.limits);
    for (const auto& [sign, summary] : {std::pair(0.0, &row.forecast), {1.0, &row.slow}, {-1.0, &row.fast}}) {
      const double scale = std::exp(sign * steps.log_half_width);
      options.front_end.fixed_s = scale * steps.front_end_s;
      const auto run = serve(trace, options, MeasuredStepTime(steps, scale));
      if (!run) return run.error();
      *summary = summarise(trace, options, *run, asked.objectives);
      if (sign != 0 || !take) continue;
      if (Status taken = take(row, trace, *run); !taken) return taken.error();
    }
    if (row.forecast.finished == 0) {
      row.problem = "every request is longer than " + std::to_string(options.limits.context_tokens) + " tokens";
    }
    any = any || row.problem.empty();
    result.rows.push_back(std::move(row));
  }
  if (any) return result;
  return infeasible_error("too-long", result.rows.front().problem, "",
                          "shorter requests, or steps calibrated with a longer --context-tokens");
}

}  // namespace perfcast::ai
