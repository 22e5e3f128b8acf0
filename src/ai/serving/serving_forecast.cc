#include "ai/serving/serving_forecast.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ai/serving/engine_step_time.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr int64_t kMostDevices = 64;  // that are tried where a model doesn't fit

// Tokens of a mean request.
void add_lengths(const ServingTrace& trace, ServingRow& row) {
  double prompt = 0, output = 0;
  for (const ServingRequest& request : trace.requests) {
    prompt += static_cast<double>(request.prompt_tokens);
    output += static_cast<double>(request.output_tokens);
  }
  row.requests = static_cast<int64_t>(trace.requests.size());
  row.prompt_tokens = prompt / static_cast<double>(row.requests);
  row.output_tokens = output / static_cast<double>(row.requests);
}

class ServingForecaster {
 public:
  ServingForecaster(const ServingRequestFor& request, const TakeRun& take) : request_(request), take_(take) {}

  Result<ServingRow> forecast(size_t device, size_t load, const ServingTrace& trace) {
    ServingRow row;
    row.device = device;
    row.load = load;
    row.devices = (request_.prefill_replicas + request_.replicas) * request_.data_parallel *
                  request_.pipeline_parallel * request_.formats.tensor_parallel;
    add_lengths(trace, row);
    const auto work = work_of(row, request_.formats.tensor_parallel);
    if (!work) return work.error();
    const ServingDevice& on = request_.devices[device];
    const auto widths = forecast_engine(*request_.profile, *work, on.facts, on.host);
    if (!widths) return widths.error();
    row.unmeasured = widths->unmeasured;
    if (request_.prefill_replicas > 0 && !(link_bytes_per_s(on) > 0)) {
      return Error{"unknown-fact",
                   "how fast keys come from " + printable(on.facts.name) + " to replicas for answers is not known", "",
                   "bytes per second (--transfer-rate), or a file of facts (--device-file)"};
    }
    const auto limits = limits_of(*work, on.facts);
    if (!limits) {
      if (limits.error().code != "no-memory") return limits.error();
      row.problem = limits.error().message;
      row.fits_on = smallest_group(row, on.facts);
      failed_ = limits.error();
      if (row.fits_on > 0) {
        failed_->expected = "--tensor-parallel " + std::to_string(row.fits_on) +
                            ": so many share the model and hold it; a larger device, or fewer bits a weight "
                            "(--weight-precision)";
      }
      return row;
    }
    ServeOptions options = options_of(*work, on);
    options.limits = row.limits = *limits;
    options.concurrency = request_.loads[load].concurrency;
    options.most_in_flight = request_.loads[load].most_in_flight;
    const DraftTime draft{request_.draft_tokens, request_.draft_share.value_or(1 / work->layers)};
    const double token = widths->token_log_half_width, first = widths->first_log_half_width;
    std::vector<std::pair<double, ServingSummary*>> errors = {{0, &row.forecast}, {1, &row.slow}, {-1, &row.fast}};
    if (request_.error_half_widths) errors = {{*request_.error_half_widths, &row.forecast}};
    for (const auto& [error, summary] : errors) {
      const StepScale scale{std::exp(error * token), std::exp(error * std::max(token, first))};
      options.front_end = front_end_time(*request_.profile, on.host, scale);
      const EngineStepTime times(*request_.profile, *work, on.facts, on.host, scale, draft);
      auto run = serve(trace, options, times);
      if (!run) return run.error();
      *summary = summarise(trace, options, *run, request_.objectives);
      if (error != 0 && !request_.error_half_widths) {
        const ServiceRatios ratios = service_ratios(*request_.profile, *work);
        move_ends(row.forecast, ratios.token, ratios.first, *summary);
      }
      const bool is_forecast = summary == &row.forecast;
      if (is_forecast && row.forecast.finished == 0) {
        row.problem = "every request is longer than the " + std::to_string(options.limits.cache_tokens) +
                      " tokens that its cache holds";
        if (options.limits.context_tokens > 0) {
          row.problem += ", or than " + std::to_string(options.limits.context_tokens) + " tokens";
        }
        failed_ = infeasible_error("too-long", printable(on.facts.name) + ": " + row.problem, "",
                                   "shorter requests, or a larger cache");
        return row;
      }
      if (is_forecast) row.samples = run->samples;
      if (!is_forecast || !take_) continue;
      if (Status taken = take_(row, trace, *run); !taken) return taken.error();
    }
    const double price_per_s = on.price_per_hour * static_cast<double>(row.devices) / 3600;
    if (row.forecast.output_tokens_per_s > 0) {
      row.cost_per_million = price_per_s / row.forecast.output_tokens_per_s * 1e6;
      row.cost_per_request = price_per_s / row.forecast.requests_per_s;
    }
    return row;
  }

  const std::optional<Error>& failed() const { return failed_; }  // the last one that was left out

 private:
  Result<EngineWork> work_of(const ServingRow& row, int64_t tensor_parallel) const {
    EngineRequest engine = request_.formats;
    engine.tensor_parallel = tensor_parallel;
    engine.pipeline_stages = request_.pipeline_parallel;
    if (request_.config.has_moe()) engine.expert_ranks = request_.data_parallel;
    engine.prompt_tokens = std::max<int64_t>(1, std::llround(row.prompt_tokens));
    engine.output_tokens = std::max<int64_t>(1, std::llround(row.output_tokens));
    engine.batch = 2;  // several requests at once
    engine.sampler = sampler_defaults(request_.config);
    auto work = engine_work(request_.config, engine);
    // Where each rank has a part of each expert, none is busier than the others.
    if (work && !request_.expert_parallel) work->busiest_rank = 0;
    return work;
  }

  // Limits and load apart.
  ServeOptions options_of(const EngineWork& work, const ServingDevice& on) const {
    ServeOptions options;
    options.router = request_.router;
    options.pipeline_parallel = request_.pipeline_parallel;
    // Engines without experts have nothing to wait for each other.
    const bool shares = request_.config.has_moe();
    options.data_parallel = shares ? request_.data_parallel : 1;
    const int64_t apart = shares ? 1 : request_.data_parallel;
    options.balance_steps = request_.balance_steps;
    options.replicas = apart * request_.replicas;
    options.prefill_replicas = apart * request_.prefill_replicas;
    if (request_.pipeline_parallel > 1) {
      const StageHop hop = stage_hop(*request_.profile, work, on.facts, on.host);
      options.hop_s = hop.seconds;
      options.hop_token_s = hop.token_s;
    }
    if (request_.prefill_replicas > 0) options.transfer_token_s = cache_bytes_of(work) / link_bytes_per_s(on);
    options.idle_w = idle_power_w(work, on.facts);
    return options;
  }

  double link_bytes_per_s(const ServingDevice& on) const {
    return std::isnan(request_.transfer_bytes_per_s) ? on.facts.host_link_bytes_per_s : request_.transfer_bytes_per_s;
  }

  Result<EngineLimits> limits_of(const EngineWork& work, const DeviceFacts& facts) const {
    auto limits = default_limits(*request_.profile, work, facts);
    if (!limits) {
      // The user's word stands where the device's memory isn't known.
      if (!request_.cache_tokens || limits.error().code != "unknown-fact") return limits;
      EngineLimits known;
      known.schedules_ahead = request_.profile->overlaps_host;
      known.prompts_apart = !request_.profile->mixes_prompts;
      known.step_tokens = static_cast<int64_t>(chunk_tokens(*request_.profile, facts));
      limits = known;
    }
    // A larger number of sequences asks for larger steps, where their size isn't given.
    if (request_.max_sequences) {
      limits->max_sequences = *request_.max_sequences;
      limits->step_tokens = std::max(limits->step_tokens, limits->max_sequences);
    }
    if (request_.step_tokens) {
      limits->step_tokens = *request_.step_tokens;
      if (!request_.max_sequences) limits->max_sequences = std::min(limits->max_sequences, limits->step_tokens);
    }
    const int64_t each = 1 + request_.draft_tokens;
    if (!request_.step_tokens) limits->step_tokens = std::max(limits->step_tokens, each * limits->max_sequences);
    if (!request_.max_sequences) limits->max_sequences = std::min(limits->max_sequences, limits->step_tokens / each);
    limits->draft_tokens = request_.draft_tokens;
    limits->acceptance = request_.acceptance;
    if (request_.cache_tokens) limits->cache_tokens = *request_.cache_tokens;
    limits->context_tokens = request_.context_tokens;
    limits->cache_reserve_share = request_.cache_reserve_share;
    limits->prefix_cache = request_.prefix_cache;
    limits->chunked_prefill = request_.chunked_prefill;
    limits->receive_steps = request_.receive_steps;
    return limits;
  }

  // Powers of two: what engines accept.
  int64_t smallest_group(const ServingRow& row, const DeviceFacts& facts) const {
    for (int64_t devices = 2; devices <= kMostDevices; devices *= 2) {
      if (devices <= request_.formats.tensor_parallel) continue;
      const auto work = work_of(row, devices);
      if (!work) return 0;
      if (default_limits(*request_.profile, *work, facts)) return devices;
    }
    return 0;
  }

  const ServingRequestFor& request_;
  const TakeRun& take_;
  std::optional<Error> failed_;
};

}  // namespace

Status check_parallel(const ServingRequestFor& request) {
  if (request.data_parallel > 1 && request.pipeline_parallel > 1) {
    return usage_error("bad-usage", "several engines of several stages in a replica", "pipeline_parallel",
                       "data parallel or pipeline parallel alone, and tensor parallel beside it");
  }
  if (request.balance_steps > 0 && (request.data_parallel == 1 || !request.config.has_moe())) {
    return usage_error("bad-usage", "no engines of a replica share experts, so none waits for another", "balance_steps",
                       "a mixture of experts, and data parallel with it");
  }
  if (request.expert_parallel && !request.config.has_moe()) {
    return usage_error("bad-usage", printable(request.config.name) + " has no experts", "expert_parallel",
                       "a mixture of experts, or no expert parallel");
  }
  if (request.expert_parallel && request.data_parallel == 1) {
    return usage_error("bad-usage", "whole experts on the devices of one engine are not simulated", "expert_parallel",
                       "data parallel with it; without it, devices of an engine share each expert");
  }
  if (request.prefill_replicas == 0 && !std::isnan(request.transfer_bytes_per_s)) {
    return usage_error("bad-usage", "no replica hands requests over", "transfer_rate", "prefill replicas with it");
  }
  if (request.prefill_replicas > 0 && !request.chunked_prefill) {
    return usage_error("bad-usage", "replicas for prompts alone cut nothing up for answers", "whole_prompts",
                       "prefill replicas without it");
  }
  return {};
}

Result<ServingResult> forecast_serving(ServingRequestFor request, const TakeRun& take) {
  ServingResult result;
  const auto parameters = count_parameters(request.config);
  if (!parameters) return parameters.error();
  result.parameters = parameters->total;
  result.request = std::move(request);
  ServingForecaster forecaster(result.request, take);
  bool any = false;
  for (size_t load = 0; load < result.request.loads.size(); ++load) {
    const ServingTrace trace = result.request.loads[load].trace();
    for (size_t device = 0; device < result.request.devices.size(); ++device) {
      auto row = forecaster.forecast(device, load, trace);
      if (!row) return row.error();
      any = any || row->problem.empty();
      result.rows.push_back(*std::move(row));
    }
  }
  if (!any) return *forecaster.failed();
  std::stable_sort(result.rows.begin(), result.rows.end(),
                   [](const ServingRow& a, const ServingRow& b) { return a.device < b.device; });
  return result;
}

}  // namespace perfcast::ai
