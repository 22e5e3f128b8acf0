// An engine's times in the place of kernels alone, or around them.
#include <algorithm>
#include <cmath>

#include "ai/llm_forecast/llm_forecast.h"

namespace perfcast::ai {
namespace {

constexpr const char* kEngineVendor = "NVIDIA";  // of all devices that engines were measured on

EngineRequest engine_request_of(const LlmRequest& request, const SamplerDefaults& sampler) {
  EngineRequest engine;
  engine.prompt_tokens = request.sequence;
  engine.output_tokens = request.output_tokens;
  engine.batch = request.batch;
  engine.tensor_parallel = request.tensor_parallel;
  engine.weights = request.weights;
  engine.activations = request.activations;
  engine.kv = request.kv;
  engine.weight_bits_per_value = request.weight_bits_per_value;
  engine.sampler = sampler;
  return engine;
}

// What a step does outside of its layers.
double step_s(const EngineProfile& profile, const SamplerDefaults& sampler, const DeviceFacts& device) {
  const EngineConstants& constants = profile.constants;
  return (constants.step_cycles + (sampler.truncates ? constants.sampler_truncation_cycles : 0)) / device.clock_hz;
}

// What the device waits for the most.
Bound bound_of(const EngineParts& parts, bool host_overlaps, Bound operators) {
  const EngineTokenTime& token = parts.token;
  const double large_s = token.weights_s + token.attention_s + parts.token_operators_s;
  if (token.host_s > (host_overlaps ? token.device_s : large_s)) return Bound::kLaunch;
  double seconds[kBounds] = {};
  seconds[static_cast<size_t>(Bound::kMemory)] += token.weights_s + token.attention_s;
  seconds[static_cast<size_t>(Bound::kStart)] += token.kernels_s;
  seconds[static_cast<size_t>(Bound::kLink)] += token.all_reduce_s;
  seconds[static_cast<size_t>(operators)] += parts.token_operators_s;
  return static_cast<Bound>(std::max_element(seconds, seconds + kBounds) - seconds);
}

}  // namespace

std::string why_no_engine(const LlmConfig& config, const DeviceFacts& device) {
  if (!config.has_cache()) return "the model generates no tokens";
  if (device.kind != DeviceKind::kGpu || device.vendor != kEngineVendor) {
    return "engines were measured on " + std::string(kEngineVendor) + " GPUs alone";
  }
  const Status known = check_engine_device(device, {});
  return known ? "" : known.error().message;
}

std::string engine_words(const EngineTerms& engine, TimeBasis basis) {
  if (basis == TimeBasis::kKernels) return "kernels only";
  const EngineProfile& profile = *engine.profile;
  std::string words = profile.name + " " + profile.version;
  if (basis == TimeBasis::kEngineOnKernels) return words + " + kernels";
  if (profile.basis == EngineBasis::kMeasured) return words;
  return words + ", " + std::string(name_of(profile.basis));
}

Result<LlmForecaster::SingleStream*> LlmForecaster::single_stream(const LlmRequest& request) {
  LlmRequest alone = request;
  alone.batch = 1;
  if (single_ && single_->request == alone) return &*single_;
  single_.reset();
  SingleStream single;
  single.request = alone;
  single.sampler = sampler_defaults(config_);
  auto work = engine_work(config_, engine_request_of(alone, single.sampler));
  if (!work) return work.error();
  single.work = *std::move(work);
  const auto engine = forecast_engine(*terms_.engine.profile, single.work, engine_device_, terms_.engine.host);
  if (!engine) return engine.error();
  single.engine = *engine;
  single_ = std::move(single);
  return &*single_;
}

// The kernels of one sequence of the request, whose operators are built again thereafter.
Status LlmForecaster::time_single_kernels(const LlmRequest& request, SingleStream& single) {
  if (Status status = build(single.request); !status) return status;
  StepTime prefill, token;
  if (Status status = time_steps(prefill, token); !status) return status;
  single.prefill_device_s = prefill.device_seconds;
  single.token_device_s = token.device_seconds;
  return build(request);
}

Status LlmForecaster::add_engine(LlmForecast& forecast) {
  if (!engine_runs_) return {};
  const LlmRequest& request = forecast.request;
  const auto found = single_stream(request);
  if (!found) return found.error();
  SingleStream& single = **found;
  const EngineTerms& terms = terms_.engine;
  const EngineForecast& engine = single.engine;
  const bool measured = !terms.kernels && engine.unmeasured == 0;
  EngineParts& parts = forecast.engine;
  parts.token = engine.token;
  parts.first = engine.first;
  forecast.basis = measured && request.batch == 1 ? TimeBasis::kEngine : TimeBasis::kEngineOnKernels;
  forecast.engine_unmeasured = engine.unmeasured | (request.batch > 1 ? kUnmeasuredBatch : 0u);
  if (forecast.basis == TimeBasis::kEngineOnKernels) {
    EngineTokenTime& token = parts.token;
    EngineFirstTime& first = parts.first;
    if (measured) {  // a single stream, and what its fellows add to the kernels
      if (std::isnan(single.token_device_s)) {
        if (Status status = time_single_kernels(request, single); !status) return status;
      }
      parts.token_operators_s = std::max(0.0, forecast.token.device_seconds - single.token_device_s);
      token.device_s += parts.token_operators_s;
      first.prefill_s += std::max(0.0, forecast.prefill.device_seconds - single.prefill_device_s);
    } else {
      const double outside_s = step_s(*terms.profile, single.sampler, engine_device_);
      parts.token_operators_s = forecast.token.device_seconds;
      token.weights_s = token.attention_s = token.all_reduce_s = 0;
      token.kernels_s = outside_s;
      token.device_s = outside_s + parts.token_operators_s;
      first.prefill_s = outside_s + forecast.prefill.device_seconds;
    }
    token.seconds =
        terms.profile->overlaps_host ? std::max(token.device_s, token.host_s) : token.device_s + token.host_s;
    // Launches of all prompts are known where they are what an engine's own prefill waits for.
    single.work.request.batch = request.batch;
    const EngineFirstTime all = engine_first_time(*terms.profile, single.work, engine_device_, terms.host);
    first.tokeniser_s = all.tokeniser_s;
    first.launch_s = all.launch_s > 0 ? std::max(0.0, all.prefill_s + all.launch_s - first.prefill_s) : 0;
    first.seconds = first.fixed_s + first.tokeniser_s + first.prefill_s + first.launch_s;
  }
  const auto take = [&](StepTime& step, double seconds, double log_half_width, Bound bound) {
    const double own = log_half_width / kInterval90;
    step.log_sd = forecast.basis == TimeBasis::kEngine ? own : std::max(own, step.log_sd);
    step.seconds = seconds;
    step.engine_bound = bound;
  };
  const Bound prompt = forecast.prefill.bound();
  take(forecast.prefill, parts.first.seconds, engine.first_log_half_width,
       parts.first.prefill_s * 2 > parts.first.seconds ? prompt : Bound::kLaunch);
  take(forecast.token, parts.token.seconds, engine.token_log_half_width,
       bound_of(parts, terms.profile->overlaps_host, forecast.token.bound()));
  return {};
}

}  // namespace perfcast::ai
