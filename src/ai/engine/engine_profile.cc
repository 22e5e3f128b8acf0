#include "ai/engine/engine_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ai/engine/engine_number.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr std::array<std::string_view, 3> kBases = {"measured", "weakly measured", "by physics"};
constexpr size_t kMostNames = 100;

struct SpreadNumber {
  const char* name;
  double EngineSpread::*member;
  bool may_lack = false;  // older files have none: the default stands
};
constexpr std::array kSpreadNumbers = {
    SpreadNumber{"token_one_log_sd", &EngineSpread::token_one_log_sd},
    SpreadNumber{"token_several_log_sd", &EngineSpread::token_several_log_sd},
    SpreadNumber{"first_one_log_sd", &EngineSpread::first_one_log_sd},
    SpreadNumber{"first_several_log_sd", &EngineSpread::first_several_log_sd},
    SpreadNumber{"new_model_token_log_sd", &EngineSpread::new_model_token_log_sd},
    SpreadNumber{"new_model_first_log_sd", &EngineSpread::new_model_first_log_sd},
    SpreadNumber{"unknown_host_token_log_sd", &EngineSpread::unknown_host_token_log_sd},
    SpreadNumber{"unknown_host_first_log_sd", &EngineSpread::unknown_host_first_log_sd},
    SpreadNumber{"unmeasured_log_sd", &EngineSpread::unmeasured_log_sd},
    SpreadNumber{"service_token_ratio", &EngineSpread::service_token_ratio, true},
    SpreadNumber{"service_first_ratio", &EngineSpread::service_first_ratio, true},
};
constexpr double kMostLogSd = 10;

EngineConstants constants_from(const Json& json, const std::string& path, std::vector<std::string>& complaints) {
  JsonReader in(json, path);
  EngineConstants constants;
  for (const EngineConstant& constant : engine_constants()) {
    if (constant.may_lack && in.member(constant.name) == nullptr) continue;
    constants.*constant.member = number_within(in, constant.name, constant.least, constant.most);
  }
  in.refuse_others();
  complaints.insert(complaints.end(), in.complaints().begin(), in.complaints().end());
  return constants;
}

EngineSpread spread_from(const Json& json, const std::string& path, std::vector<std::string>& complaints) {
  JsonReader in(json, path);
  EngineSpread spread;
  for (const SpreadNumber& number : kSpreadNumbers) {
    if (number.may_lack && in.member(number.name) == nullptr) continue;
    spread.*number.member = number_within(in, number.name, 0, kMostLogSd);
  }
  spread.devices = in.optional_integer("devices", 0, 1000000).value_or(0);
  in.refuse_others();
  complaints.insert(complaints.end(), in.complaints().begin(), in.complaints().end());
  return spread;
}

}  // namespace

std::string_view name_of(EngineBasis basis) { return kBases[static_cast<size_t>(basis)]; }

const std::vector<EngineConstant>& engine_constants() {
  using C = EngineConstants;
  static const std::vector<EngineConstant> constants = {
      {"weight_bandwidth_share", &C::weight_bandwidth_share, 0.01, 2},
      {"cache_bandwidth_share", &C::cache_bandwidth_share, 0.01, 5},
      {"step_cycles", &C::step_cycles, 0, 1e9},
      {"kernel_cycles", &C::kernel_cycles, 0, 1e7},
      {"sampler_truncation_cycles", &C::sampler_truncation_cycles, 0, 1e9},
      {"unsplit_key_ns", &C::unsplit_key_ns, 0, 1e5},
      {"all_reduce_cycles", &C::all_reduce_cycles, 0, 1e7},
      {"all_reduce_device_cycles", &C::all_reduce_device_cycles, 0, 1e7},
      {"nccl_link_us", &C::nccl_link_us, 0, 1e5},
      {"nccl_pcie_us", &C::nccl_pcie_us, 0, 1e5},
      {"host_step_ms", &C::host_step_ms, 0, 1e4},
      {"host_penalty_ms", &C::host_penalty_ms, 0, 1e4},
      {"host_several_ms", &C::host_several_ms, 0, 1e4},
      {"host_kernel_us", &C::host_kernel_us, 0, 1e4},
      {"host_sequence_us", &C::host_sequence_us, 0, 1e4, true},
      {"sampler_value_bytes", &C::sampler_value_bytes, 0, 1e5, true},
      {"sampler_sort_bytes", &C::sampler_sort_bytes, 0, 1e5, true},
      {"front_token_us", &C::front_token_us, 0, 1e4, true},
      {"front_request_ms", &C::front_request_ms, 0, 1e4, true},
      {"prompt_step_ms", &C::prompt_step_ms, 0, 1e4, true},
      {"first_fixed_ms", &C::first_fixed_ms, 0, 1e5},
      {"prompt_token_us", &C::prompt_token_us, 0, 1e5},
      {"eager_step_ms", &C::eager_step_ms, 0, 1e5},
      {"eager_layer_ms", &C::eager_layer_ms, 0, 1e4},
      {"eager_kernel_us", &C::eager_kernel_us, 0, 1e5, true},
      {"eager_several_ratio", &C::eager_several_ratio, 0, 100},
      {"operand_feed_loss", &C::operand_feed_loss, 0, 10},
      {"flops_per_j", &C::flops_per_j, 0, 1e15},
      {"overlap_exponent", &C::overlap_exponent, 1, 100},
      {"link_bandwidth_share", &C::link_bandwidth_share, 0.001, 2},
      {"pcie_bandwidth_share", &C::pcie_bandwidth_share, 0.001, 2},
      {"prefill_attention_share", &C::prefill_attention_share, 0.001, 1},
      {"tile_fill_values", &C::tile_fill_values, 0, 1e6},
      {"layer_kernels", &C::layer_kernels, 0, 1e4},
      {"expert_layer_cycles", &C::expert_layer_cycles, 0, 1e9, true},
      {"expert_layer_fused_cycles", &C::expert_layer_fused_cycles, 0, 1e9, true},
      {"expert_rate_share", &C::expert_rate_share, 0.001, 1, true},
      {"narrow_expert_rate_share", &C::narrow_expert_rate_share, 0.001, 1, true},
      {"four_bit_expert_rate_share", &C::four_bit_expert_rate_share, 0.001, 1, true},
      {"graph_limit_tokens", &C::graph_limit_tokens, 0, 1e9},
      {"chunk_tokens", &C::chunk_tokens, 1, 1e9},
      {"large_chunk_tokens", &C::large_chunk_tokens, 1, 1e9},
      {"large_memory_bytes", &C::large_memory_bytes, 0, 1e18},
      {"cache_memory_share", &C::cache_memory_share, 0.01, 1},
  };
  return constants;
}

double chunk_tokens(const EngineProfile& profile, const DeviceFacts& device) {
  const EngineConstants& constants = profile.constants;
  if (!(device.memory_bytes >= constants.large_memory_bytes)) return constants.chunk_tokens;
  const std::string name = lower_case(device.name);
  const bool exception = std::any_of(profile.large_chunk_exceptions.begin(), profile.large_chunk_exceptions.end(),
                                     [&](const std::string& part) { return name.find(part) != std::string::npos; });
  return exception ? constants.chunk_tokens : constants.large_chunk_tokens;
}

Json to_json(const EngineProfile& profile) {
  Json json = {{"name", profile.name},
               {"version", profile.version},
               {"basis", std::string(name_of(profile.basis))},
               {"source", profile.source},
               {"rows", profile.rows},
               {"models", profile.models},
               {"devices", profile.devices},
               {"overlaps_host", profile.overlaps_host},
               {"mixes_prompts", profile.mixes_prompts},
               {"unsplit_generations", profile.unsplit_generations},
               {"large_chunk_exceptions", profile.large_chunk_exceptions}};
  Json constants = Json::object(), spread = Json::object();
  for (const EngineConstant& constant : engine_constants()) {
    constants[constant.name] = profile.constants.*constant.member;
  }
  for (const SpreadNumber& number : kSpreadNumbers) spread[number.name] = profile.spread.*number.member;
  spread["devices"] = profile.spread.devices;
  json["constants"] = std::move(constants);
  json["spread"] = std::move(spread);
  return json;
}

Result<EngineProfile> engine_profile_from(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  EngineProfile profile;
  profile.name = in.string("name");
  if (profile.name != printable(profile.name) || profile.name.size() > 60) {
    in.complain("name", "'" + printable(profile.name.substr(0, 60)) + "'", "a name of at most 60 characters");
  }
  profile.version = in.string("version");
  const std::string basis = in.string("basis");
  const auto* const found = std::find(kBases.begin(), kBases.end(), basis);
  if (found == kBases.end()) {
    in.complain("basis", "'" + printable(basis.substr(0, 60)) + "'", "measured, weakly measured or by physics");
  } else {
    profile.basis = static_cast<EngineBasis>(found - kBases.begin());
  }
  profile.source = in.string("source");
  profile.rows = in.optional_integer("rows", 0, int64_t{1} << 40).value_or(0);
  profile.models = in.strings("models", 10 * kMostNames);
  profile.devices = in.strings("devices", 10 * kMostNames);
  profile.overlaps_host = in.boolean("overlaps_host");
  profile.mixes_prompts = in.optional_boolean("mixes_prompts").value_or(true);  // older files lack it
  profile.unsplit_generations = in.strings("unsplit_generations", kMostNames);
  profile.large_chunk_exceptions = in.strings("large_chunk_exceptions", kMostNames);
  const Json* constants = in.require_object("constants");
  const Json* spread = in.require_object("spread");
  in.refuse_others();
  std::vector<std::string> complaints = in.complaints();
  if (constants != nullptr) profile.constants = constants_from(*constants, in.path("constants"), complaints);
  if (spread != nullptr) profile.spread = spread_from(*spread, in.path("spread"), complaints);
  if (!complaints.empty()) {
    return Error{"bad-json-field", join(complaints, "; "), path,
                 "a profile as perfcast's own bundle of engines has it"};
  }
  return profile;
}

}  // namespace perfcast::ai
