#include "ai/llm_forecast/llm_forecast.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace perfcast::ai {
namespace {

constexpr int64_t kMostOutput = int64_t{1} << 30;
constexpr int64_t kMostDegrees = 4096;  // tried; no model has more heads
constexpr double kMostMeasured = 0.5;   // of the kernels' time: the rest are norms and other small ones
constexpr double kMillion = 1e6, kHour_s = 3600;

double real(int64_t value) { return static_cast<double>(value); }

}  // namespace

int64_t usual_prompt(const LlmConfig& config, int64_t output_tokens) {
  const int64_t usual = usual_sequence(config);
  if (!config.has_cache() || config.max_positions <= 0) return usual;
  return std::clamp<int64_t>(config.max_positions - output_tokens, 1, usual);
}

Result<LlmForecaster> LlmForecaster::create(LlmConfig config, std::shared_ptr<const LatencyModel> model,
                                            DeviceTerms terms) {
  if (Status status = check_config(config); !status) return status.error();
  // Engines record the kernels of a token, and launch those of a prompt as their profiles say.
  if (terms.engine.profile && why_no_engine(config, model->device()).empty()) terms.step.launch = LaunchMode::kGraph;
  return LlmForecaster(std::move(config), std::move(model), std::move(terms));
}

LlmForecaster::LlmForecaster(LlmConfig config, std::shared_ptr<const LatencyModel> model, DeviceTerms terms)
    : config_(std::move(config)), terms_(std::move(terms)), timer_(std::move(model), terms_.step) {
  if (terms_.engine.profile == nullptr) return;
  engine_device_ = timer_.model().device();
  if (terms_.step.link_bytes_per_s > 0) engine_device_.link_bytes_per_s = terms_.step.link_bytes_per_s;
  engine_runs_ = why_no_engine(config_, engine_device_).empty();
  const auto& measured = terms_.engine.profile->devices;
  engine_measured_ = std::find(measured.begin(), measured.end(), engine_device_.name) != measured.end();
}

// The operators of prefill, and of a token at the mean context.
Status LlmForecaster::build(const LlmRequest& request) {
  if (request.output_tokens < 1 || request.output_tokens > kMostOutput) {
    return usage_error("bad-usage", std::to_string(request.output_tokens) + " output tokens", "output-tokens",
                       "from 1 to " + std::to_string(kMostOutput));
  }
  prefill_.phase = LlmPhase::kPrefill;
  prefill_.batch = request.batch;
  prefill_.sequence = request.sequence;
  prefill_.context = 0;
  prefill_.weights = request.weights;
  prefill_.activations = request.activations;
  prefill_.kv = request.kv;
  prefill_.weight_bits_per_value = request.weight_bits_per_value;
  prefill_.tensor_parallel = request.tensor_parallel;
  prefill_.head_all_positions = !config_.has_cache();  // only the last position's token is wanted
  prefill_.fused_attention = request.fused_attention;
  prefill_.skip_masked = request.fused_attention;
  if (Status status = build_operators(config_, prefill_, prefill_graph_); !status) return status;
  if (!config_.has_cache()) return {};
  decode_ = prefill_;
  decode_.phase = LlmPhase::kDecode;
  decode_.context = request.sequence + request.output_tokens;
  if (Status status = check_workload(config_, decode_); !status) {
    Error error = status.error();
    if (error.where == "context") error.where = "output-tokens";
    return error;
  }
  decode_.context = request.sequence + (request.output_tokens + 1) / 2;
  return build_operators(config_, decode_, decode_graph_);
}

// Of what build() built last.
Status LlmForecaster::time_steps(StepTime& prefill, StepTime& token) {
  Status status = timer_.time(config_, prefill_, prefill_graph_, prefill);
  if (!status || !config_.has_cache()) return status;
  return timer_.time(config_, decode_, decode_graph_, token);
}

Result<MemoryNeed> LlmForecaster::memory_of(const LlmRequest& request) const {
  const auto prefill = total_operators(config_, prefill_, prefill_graph_);
  if (!prefill) return prefill.error();
  MemoryNeed need;
  need.weights = prefill->weight_bytes;
  need.activations = prefill->activation_bytes;
  if (engine_runs_) {  // of one step's tokens: engines read longer prompts in chunks
    const double tokens = real(request.batch) * real(request.sequence);
    need.activations *= std::min(1.0, chunk_tokens(*terms_.engine.profile, engine_device_) / tokens);
  }
  if (config_.has_cache()) {
    LlmWorkload longest = decode_;
    longest.context = request.sequence + request.output_tokens;
    const auto decode = total_operators(config_, longest, decode_graph_);
    if (!decode) return decode.error();
    need.kv = decode->kv_bytes;
    need.activations = std::max(need.activations, decode->activation_bytes);
  }
  need.total = need.model();
  const double available = timer_.model().device().memory_bytes;
  if (available > 0) {
    need.available = available;
    need.reserve = kMemoryReserve * available;
    need.total += need.reserve;
  }
  return need;
}

void LlmForecaster::finish(LlmForecast& forecast) const {
  const LlmRequest& request = forecast.request;
  forecast.prefill_s = forecast.prefill.seconds;
  const double batch = real(request.batch);
  const StepTime& step = forecast.main_step();
  const double tokens = forecast.generates ? batch : batch * real(request.sequence);
  forecast.tokens_per_s = tokens / step.seconds;
  forecast.lower = tokens / step.upper_s(kInterval90);
  forecast.upper = tokens / step.lower_s(kInterval90);
  forecast.request_s = forecast.prefill_s;
  double produced = tokens;
  if (forecast.generates) {
    forecast.token_s = forecast.token.seconds;
    forecast.request_s += real(request.output_tokens - 1) * forecast.token_s;
    produced = batch * real(request.output_tokens);
    forecast.client_token_s = forecast.request_s / real(request.output_tokens);
  }
  forecast.output_per_s = produced / forecast.request_s;
  const double device_seconds = real(request.tensor_parallel) * kMillion / forecast.output_per_s;
  set_power(forecast);
  forecast.energy_j_per_million = forecast.power_w * device_seconds;
  forecast.cost_per_million = terms_.price_per_hour / kHour_s * device_seconds;
}

std::optional<AcceleratorLoad> load_of(const StepTime& step) {
  if (std::isnan(step.compute_s) || std::isnan(step.memory_s) || !(step.seconds > 0)) return std::nullopt;
  return AcceleratorLoad{step.compute_s / step.seconds, step.memory_s / step.seconds};
}

double LlmForecast::request_log_sd() const {
  const double token_log_sd = generates ? token.log_sd : 0;
  return (prefill_s * prefill.log_sd + (request_s - prefill_s) * token_log_sd) / request_s;
}

double LlmForecast::energy_ratio90() const {
  return std::exp(kInterval90 * std::hypot(power_log_sd, request_log_sd()));
}

void LlmForecaster::set_power(LlmForecast& forecast) const {
  forecast.power_w = terms_.power_w;
  if (!std::isnan(terms_.power_w)) return;
  const DeviceFacts& device = timer_.model().device();
  forecast.power_w = device.power_w;
  if (device.kind == DeviceKind::kCpu || !(device.power_w > 0)) return;
  const auto prompt = load_of(forecast.prefill), token = forecast.generates ? load_of(forecast.token) : prompt;
  if (!prompt || !token) return;
  const double token_s = forecast.request_s - forecast.prefill_s;
  forecast.power_w =
      device.power_w *
      (accelerator_power_ratio(*prompt) * forecast.prefill_s + accelerator_power_ratio(*token) * token_s) /
      forecast.request_s;
  forecast.power_is_modelled = true;
  forecast.power_log_sd = accelerator_power_log_deviation(device.name);
}

Status LlmForecaster::forecast(const LlmRequest& request, LlmForecast& forecast) {
  forecast = LlmForecast();
  forecast.request = request;
  forecast.generates = config_.has_cache();
  if (Status status = build(request); !status) return status;
  if (Status status = time_steps(forecast.prefill, forecast.token); !status) return status;
  if (forecast.generates) forecast.mean_context = decode_.context;
  if (Status status = add_engine(forecast); !status) return status;
  const auto memory = memory_of(request);
  if (!memory) return memory.error();
  forecast.memory = *memory;
  const LatencyModel& device = timer_.model();
  const double sequences = real(request.batch);
  if (forecast.basis == TimeBasis::kEngine) {
    forecast.calibrated = engine_measured_;
  } else {
    forecast.calibrated = device.calibrated(forecast.prefill.mode, sequences * real(request.sequence)) &&
                          (!forecast.generates || device.calibrated(forecast.token.mode, sequences));
  }
  // Kernels of this very device stand behind most of the work.
  const auto on_kernels = [](const StepTime& step) {
    return step.measured_seconds > kMostMeasured * step.device_seconds;
  };
  if (forecast.basis != TimeBasis::kEngine) {
    forecast.calibrated |= on_kernels(forecast.prefill) && (!forecast.generates || on_kernels(forecast.token));
  }
  finish(forecast);
  return {};
}

std::optional<int64_t> LlmForecaster::smallest_tensor_parallel(const LlmRequest& request) {
  LlmRequest shared = request;
  const int64_t most = std::min(config_.heads, kMostDegrees);
  for (shared.tensor_parallel = 1; shared.tensor_parallel <= most; ++shared.tensor_parallel) {
    if (config_.heads % shared.tensor_parallel != 0 || !build(shared)) continue;
    const auto memory = memory_of(shared);
    if (memory && memory->fits()) return shared.tensor_parallel;
  }
  return std::nullopt;
}

}  // namespace perfcast::ai
