#include "ai/serving/cpu_serving_forecast.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "ai/serving/cpu_step_time.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kCacheBytes = 4.0 * 1024 * 1024 * 1024;  // of a process
constexpr int64_t kSequences = 128, kStepTokens = 2048;   // likewise

EngineLimits limits_for(const LlmWork& work, const ServingRequestFor& request) {
  EngineLimits limits = cpu_engine_limits(work, request.formats.tensor_parallel);
  // A larger number of sequences asks for larger steps, where their size isn't given.
  if (request.max_sequences) limits.max_sequences = *request.max_sequences;
  limits.step_tokens = request.step_tokens.value_or(std::max(limits.step_tokens, limits.max_sequences));
  if (!request.max_sequences) limits.max_sequences = std::min(limits.max_sequences, limits.step_tokens);
  if (request.cache_tokens) limits.cache_tokens = *request.cache_tokens;
  limits.context_tokens = request.context_tokens;
  limits.cache_reserve_share = request.cache_reserve_share;
  limits.prefix_cache = request.prefix_cache;
  limits.chunked_prefill = request.chunked_prefill;
  limits.receive_steps = request.receive_steps;
  return limits;
}

class CpuServingForecaster {
 public:
  CpuServingForecaster(const CpuService& service, const ServingRequestFor& request, const TakeRun& take)
      : service_(service), request_(request), take_(take) {}

  Result<ServingRow> forecast(size_t device, size_t load, const ServingTrace& trace) const {
    ServingRow row;
    row.device = device;
    row.load = load;
    row.devices = request_.replicas;
    row.requests = static_cast<int64_t>(trace.requests.size());
    for (const ServingRequest& request : trace.requests) {
      row.prompt_tokens += static_cast<double>(request.prompt_tokens) / static_cast<double>(row.requests);
      row.output_tokens += static_cast<double>(request.output_tokens) / static_cast<double>(row.requests);
    }
    const CpuServer& on = service_.servers[device];
    row.limits = limits_for(service_.work, request_);
    if (on.has_room == false) {
      row.problem = printable(service_.work.name) + " has " + human_bytes(service_.work.file_bytes) +
                    " of weights, and the server's memory has no room for them and a request";
      return row;
    }
    ServeOptions options;
    options.limits = row.limits;
    options.replicas = request_.replicas;
    options.router = request_.router;
    options.concurrency = request_.loads[load].concurrency;
    options.most_in_flight = request_.loads[load].most_in_flight;
    const CpuEngineConstants& constants = service_.engine.constants;
    const CpuBatchConstants of_batches;
    const double token = std::max(of_batches.log_half_width, on.widths.further_token);
    const double first = std::max(of_batches.log_half_width, on.widths.first_token);
    std::vector<std::pair<double, ServingSummary*>> errors = {{0, &row.forecast}, {1, &row.slow}, {-1, &row.fast}};
    if (request_.error_half_widths) errors = {{*request_.error_half_widths, &row.forecast}};
    for (const auto& [error, summary] : errors) {
      const double tokens_scale = std::exp(error * token), prompts_scale = std::exp(error * std::max(token, first));
      options.front_end.fixed_s = prompts_scale * constants.http_ms * 1e-3 * cpu_engine_slowness(constants, on.machine);
      const CpuStepTime times(constants, on.machine, service_.work, service_.sorts, tokens_scale, prompts_scale);
      const auto run = serve(trace, options, times);
      if (!run) return run.error();
      *summary = summarise(trace, options, *run, request_.objectives);
      if (summary == &row.forecast && take_) {
        if (Status taken = take_(row, trace, *run); !taken) return taken.error();
      }
      if (summary == &row.forecast) row.samples = run->samples;
    }
    if (row.forecast.finished == 0) row.problem = "every request is longer than the engine can hold";
    const double price_per_s = request_.devices[device].price_per_hour * static_cast<double>(row.devices) / 3600;
    if (row.forecast.output_tokens_per_s > 0) {
      row.cost_per_million = price_per_s / row.forecast.output_tokens_per_s * 1e6;
      row.cost_per_request = price_per_s / row.forecast.requests_per_s;
    }
    return row;
  }

 private:
  const CpuService& service_;
  const ServingRequestFor& request_;
  const TakeRun& take_;
};

}  // namespace

EngineLimits cpu_engine_limits(const LlmWork& work, int64_t processes) {
  EngineLimits limits;
  limits.max_sequences = kSequences * processes;
  limits.step_tokens = kStepTokens * processes;
  limits.cache_tokens = static_cast<int64_t>(kCacheBytes * static_cast<double>(processes) / work.kv_bytes_per_token);
  return limits;
}

Result<ServingResult> forecast_serving_on_cpus(const CpuService& service, ServingRequestFor request,
                                               const TakeRun& take) {
  ServingResult result;
  result.parameters = static_cast<int64_t>(service.work.parameters);
  result.request = std::move(request);
  const CpuServingForecaster forecaster(service, result.request, take);
  bool any = false;
  for (size_t load = 0; load < result.request.loads.size(); ++load) {
    const ServingTrace trace = result.request.loads[load].trace();
    for (size_t device = 0; device < service.servers.size(); ++device) {
      auto row = forecaster.forecast(device, load, trace);
      if (!row) return row.error();
      any = any || row->problem.empty();
      result.rows.push_back(*std::move(row));
    }
  }
  if (!any) {
    const std::string& problem = result.rows.front().problem;
    return service.servers[result.rows.front().device].has_room == false
               ? infeasible_error("no-memory", problem, "", "a server with more memory, or a smaller model")
               : infeasible_error("too-long", problem, "", "shorter requests, or a larger cache (--cache-tokens)");
  }
  std::stable_sort(result.rows.begin(), result.rows.end(),
                   [](const ServingRow& a, const ServingRow& b) { return a.device < b.device; });
  return result;
}

}  // namespace perfcast::ai
