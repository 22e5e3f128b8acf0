#include "studies/serving/end_to_end_service.h"

#include <algorithm>
#include <utility>

namespace perfcast::ai::serving_study {
namespace {

constexpr std::pair<const char*, const char*> kSystems[] = {
    {"h100_sxm", "h100"}, {"b200_sxm", "b200"}, {"gb200", "gb200"}};

int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

}  // namespace

ServiceSettings settings_of(const EndToEndPoint& point) {
  ServiceSettings settings;
  if (!point.drawn_lengths) return settings;
  const int64_t clients = point.clients * point.groups;
  const bool is_gpt_oss = point.model == "gpt-oss-120b";
  if (is_gpt_oss && point.system == "b200_sxm") settings.activations = Precision::kFp8;
  if (point.engine == "vllm") {
    if (is_gpt_oss && point.system == "b200_sxm") settings.kv = Precision::kFp8;
    return settings;
  }
  settings.kv = Precision::kFp8;
  if (point.engine == "tensorrt-llm") {
    constexpr int64_t kLeast = 8192, kBeside = 64, kOfGptOss = 20000;
    const int64_t whole = round_up(clients + point.prompt_tokens + kBeside, 64);
    settings.step_tokens = is_gpt_oss ? kOfGptOss : std::max(kLeast, whole);
    settings.sent_tokens = is_gpt_oss ? 20 : 10;
    if (point.groups > 1) settings.balance_steps = is_gpt_oss ? 50 : 60;
    return settings;
  }
  const bool is_small = point.precision == "fp8" && point.tensor_parallel <= 4;
  settings.step_tokens = point.precision != "fp8" ? 16384 : is_small ? 8192 : 32768;
  settings.sent_tokens = point.precision == "fp8" ? 30 : 10;
  settings.receive_steps = clients >= 16 && !is_small ? 30 : 10;
  return settings;
}

Result<EndToEndService> EndToEndService::of(const EndToEndPoint& point, const DeviceCatalogue& devices) {
  EndToEndService service;
  service.point_ = point;
  const ServiceSettings settings = settings_of(point);
  service.sent_tokens_ = settings.sent_tokens;
  auto config = model_of(point);
  if (!config) return config.error();
  ServingRequestFor& request = service.request_;
  for (const auto& [system, name] : kSystems) {
    if (point.system != system) continue;
    const auto device = find_device(devices, name);
    if (!device) return device.error();
    request.devices.push_back({**device, {}});
  }
  if (request.devices.empty()) return Error{"unknown-device", point.system + " is not known", "", ""};
  if (config->stored_weight_bytes) {
    const auto count = count_parameters(*config);
    if (!count) return count.error();
    request.formats.weight_bits_per_value = *config->stored_weight_bytes * 8 / static_cast<double>(count->total);
    request.formats.activations = settings.activations.value_or(config->stored_activations.value_or(Precision::kBf16));
  }
  request.formats.tensor_parallel = point.tensor_parallel;
  // Groups of a mixture of experts share its experts; those of a dense model are engines of their own.
  (config->has_moe() ? request.data_parallel : request.replicas) = point.groups;
  request.expert_parallel = config->has_moe() && point.groups > 1;
  request.config = *std::move(config);
  request.formats.kv = settings.kv;
  request.step_tokens = settings.step_tokens;
  request.receive_steps = settings.receive_steps;
  request.balance_steps = settings.balance_steps;
  ServingLoad load;
  load.concurrency = point.clients * point.groups;
  load.trace = [trace = std::make_shared<const ServingTrace>(trace_of(point))] { return *trace; };
  request.loads.push_back(std::move(load));
  return service;
}

Result<SimulatedTimes> EndToEndService::simulate(const EngineProfile& profile, double half_widths) const {
  ServingRequestFor request = request_;
  auto sending = std::make_shared<EngineProfile>(profile);
  sending->constants.front_token_us /= static_cast<double>(sent_tokens_);
  request.profile = std::move(sending);
  request.error_half_widths = half_widths;
  const auto result = forecast_serving(std::move(request));
  if (!result) return result.error();
  const ServingSummary& summary = result->rows.front().forecast;
  return SimulatedTimes{summary.further_token.mean, summary.first_token.mean};
}

}  // namespace perfcast::ai::serving_study
