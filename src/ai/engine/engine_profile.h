#pragma once
// A serving engine as the constants of what it does around its kernels: a profile has a name, a version, and says
// where its constants come from. What they mean together: engine_step.h.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "base/unknown.h"
#include "machine/facts/device_facts.h"

namespace perfcast::ai {

// What the constants of a profile stand on.
enum class EngineBasis : uint8_t {
  kMeasured,        // fitted on runs of this engine
  kWeaklyMeasured,  // another engine's constants: the kernels are alike, the host's work isn't; wide intervals
  kPhysics,         // nobody measured this engine here
};
std::string_view name_of(EngineBasis basis);  // "measured", "weakly measured", "by physics"

// All are 0 or more. Cycles are those of a device's boost clock; host times are those of a host of level 1
// (host_level.h), which a host of level 2 does in half.
struct EngineConstants {
  double weight_bandwidth_share = 0;     // of the sheet's bandwidth that reading weights gets
  double cache_bandwidth_share = 0;      // likewise the cache
  double step_cycles = 0;                // a step's work outside layers: inputs, sampler, copy of the result
  double kernel_cycles = 0;              // one kernel of a layer inside a graph: start, drain, gap
  double sampler_truncation_cycles = 0;  // top-k or top-p: the vocabulary is sorted
  double sampler_value_bytes = 0;        // of memory, for each value of the vocabulary and further sequence of a step
  double sampler_sort_bytes = 0;         // ... where the sampler sorts it
  double unsplit_key_ns = 0;             // of attention that isn't split over the context, for each key; heads of 256
  double all_reduce_cycles = 0;          // the engine's own kernel, two devices
  double all_reduce_device_cycles = 0;   // ... for each further device
  double nccl_link_us = 0;               // NCCL's, of one token: devices with a link among all
  double nccl_pcie_us = 0;               // ... over PCI Express
  double host_step_ms = 0;               // scheduler, inputs, launch of a graph, output
  double host_penalty_ms = 0;            // ... where tokens are penalised for being repeated
  double host_several_ms = 0;            // ... where several devices share the model
  double host_kernel_us = 0;             // ... for each kernel, where steps are no graphs
  double host_sequence_us = 0;           // ... for each sequence that gets a token, beyond the first
  double front_token_us = 0;             // the server's process, for each token that it sends
  double front_request_ms = 0;           // ... for each request: of first_fixed_ms
  double prompt_step_ms = 0;             // that the host takes longer for a step with prompts: of first_fixed_ms
  double first_fixed_ms = 0;             // HTTP, template, scheduler, client, first answer
  double prompt_token_us = 0;            // tokeniser and copies, for each token of the prompt
  double eager_step_ms = 0;              // launching a step without a graph
  double eager_layer_ms = 0;             // ... for each layer
  double eager_kernel_us = 0;            // ... for each kernel of a layer that a dense one in 16 bits doesn't have
  double eager_several_ratio = 1;        // ... times this where several devices share the model
  double operand_feed_loss = 0;          // of the peak, per 1,024 FLOP that a multiprocessor does in a cycle
  double flops_per_j = 0;                // that the board's power feeds, at 4 nm; 0: power limits nothing
  double overlap_exponent = 1;           // p of (products^p + weights^p)^(1/p) in prefill; 1: one after the other
  double link_bandwidth_share = 0;       // of the link's sheet speed that an all-reduce gets
  double pcie_bandwidth_share = 0;       // likewise PCI Express
  // Rules of the engine, from its documentation and from kernels that were measured alone; not fitted.
  double prefill_attention_share = 0.5;  // of the peak
  double tile_fill_values = 256;         // filling and draining a product's tile, as further values of the inner size
  double layer_kernels = 8;              // kernels of a layer beside its norms
  double expert_layer_cycles = 54000;    // of a layer of experts beside its reads and its counted kernels
  double expert_layer_fused_cycles = 10000;  // ... where one kernel does it all: Blackwell in data centres
  double expert_rate_share = 0.5;            // of the rate of products with all tokens, that those with an expert's get
  double narrow_expert_rate_share = 0.3;     // ... in fp8
  double four_bit_expert_rate_share = 0.4;   // ... in 4 bits, of the rate that products have in them
  double graph_limit_tokens = 512;           // steps up to so many tokens are graphs
  double chunk_tokens = 2048;                // of a prompt that are processed at once
  double large_chunk_tokens = 8192;          // ... where memory is at least large_memory_bytes, but for A100
  double large_memory_bytes = 70.0 * 1073741824;
  double cache_memory_share = 0.9;  // of the device's memory that weights and cache may take
};

// Widths of 90% intervals of a device that nobody measured: standard deviations of the log of measured over forecast
// times, the root of the mean over left-out devices of their mean squares. By the number of devices, Student's t stands
// in for the normal quantile.
struct EngineSpread {
  double token_one_log_sd = 0, token_several_log_sd = 0;  // client's time per token: one device, several
  double first_one_log_sd = 0, first_several_log_sd = 0;  // first token
  int64_t devices = 0;                                    // 0: not measured, the normal quantile
  // Added in quadrature, as normal ones: where the model is none of EngineProfile::models, ...
  double new_model_token_log_sd = 0, new_model_first_log_sd = 0;
  double unknown_host_token_log_sd = 0, unknown_host_first_log_sd = 0;  // ... the host's level isn't known, ...
  double unmeasured_log_sd = 0;                                         // ... for each of EngineForecast::unmeasured
  // Of simulated services: the log of an interval's end over the forecast is so many times what steps at their ends
  // make of it. By deployments that were measured; 1 where none was. See service_ratios().
  double service_token_ratio = 1, service_first_ratio = 1;
};

struct EngineProfile {
  std::string name;     // "vllm"
  std::string version;  // that was measured, or that the constants are taken for: "0.22"
  EngineBasis basis = EngineBasis::kPhysics;
  std::string source;                // of the constants: which set
  int64_t rows = 0;                  // measurements behind them; 0: none
  std::vector<std::string> models;   // that were measured, as perfcast names them
  std::vector<std::string> devices;  // likewise
  bool overlaps_host = true;         // the host prepares a step while the device works: the longer counts, else the sum
  bool mixes_prompts = true;         // a step holds chunks of prompts beside further tokens; else they take turns
  std::vector<std::string> unsplit_generations;     // of devices whose decode attention may stay on one multiprocessor
  std::vector<std::string> large_chunk_exceptions;  // parts of names of devices that keep chunk_tokens: "a100"
  EngineConstants constants;
  EngineSpread spread;
};

// Tokens of a prompt that the engine processes at once on the device.
double chunk_tokens(const EngineProfile& profile, const DeviceFacts& device);

Json to_json(const EngineProfile& profile);
// "bad-json-field": all mistakes at once; unknown keys with near names; constants that no engine has.
Result<EngineProfile> engine_profile_from(const Json& json, const std::string& path);

// Constants by their names in JSON, for fits and tables.
struct EngineConstant {
  const char* name;
  double EngineConstants::*member;
  double least, most;     // that a file may state
  bool may_lack = false;  // older files have none: the default stands
};
const std::vector<EngineConstant>& engine_constants();

}  // namespace perfcast::ai
