#pragma once
// What an engine takes for the first token and for each further one, from facts of model, device and host:
//
//   further token = max(device, host), or their sum where the engine doesn't overlap them
//     device = weights / (share x bandwidth) + (step + kernels x layers x one kernel + truncation) / clock
//              + (what experts take beside) x layers of experts / clock
//              + attention + all-reduces
//     attention: cache / (share x bandwidth); in layers whose kernel isn't split over the context (devices before
//              Hopper: layers with a window, or with as many key-value heads as heads on a device) at least the time of
//              the keys one after the other on one multiprocessor
//     host   = (step + penalty + several devices + kernels without a graph) / level
//   first token = (fixed + tokeniser x prompt) / level + sum over chunks of max(prefill, launches) + head + step /
//   clock
//     prefill = (products^p + weights^p)^(1/p) + attention + activations + kernels + all-reduces
//   client's time per token = (first + (outputs - 1) x further) / outputs, as guidellm and its like print it
//
// Single streams were measured: one request at a time. Dense models in 16 bits; the rest follows by physics, and is
// marked.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ai/engine/engine_profile.h"
#include "ai/engine/host_level.h"
#include "ai/llm/model_config.h"
#include "ai/llm/precision.h"
#include "base/result.h"
#include "base/unknown.h"
#include "machine/facts/device_facts.h"
#include "machine/meter/accelerator_power.h"

namespace perfcast::ai {

// What a model's generation_config.json asks of the sampler; engines follow it unless a request says otherwise.
struct SamplerDefaults {
  bool truncates = false;  // top_k or top_p: the vocabulary is sorted
  bool penalises = false;  // a repetition penalty other than 1
};
// By the model's name: as the makers' generation_config.json of the chat versions state it.
SamplerDefaults sampler_defaults(const LlmConfig& config);

struct EngineRequest {
  int64_t prompt_tokens = 0, output_tokens = 128;
  int64_t batch = 1;  // requests that run together
  int64_t tensor_parallel = 1;
  int64_t expert_ranks = 1;     // engines of tensor_parallel devices that hold a part of the experts each
  int64_t pipeline_stages = 1;  // groups of tensor_parallel devices that hold a part of the layers each
  Precision weights = Precision::kBf16, activations = Precision::kBf16, kv = Precision::kBf16;
  std::optional<double> weight_bits_per_value;
  bool products_in_4_bits = false;  // set by engine_work(): weights are stored so that units for 4 bits take them
  SamplerDefaults sampler;
};

// What no measurement of an engine covers; bits of EngineForecast::unmeasured.
enum EngineUnmeasured : uint32_t {
  kUnmeasuredExperts = 1,
  kUnmeasuredLatentAttention = 2,
  kUnmeasuredStateSpace = 4,
  kUnmeasuredPrecision = 8,
  kUnmeasuredBatch = 16,
  kUnmeasuredVendor = 32,
};
// "mixture of experts; weights of other than 16 bits"
std::string unmeasured_in_words(uint32_t unmeasured);

// A model's work on each of tensor_parallel devices, as plain numbers: made once, timed on many devices.
struct EngineWork {
  std::string model;  // its name
  EngineRequest request;
  double layers = 0;
  double kernels_per_layer = 0;  // beside EngineConstants::layer_kernels: norms, what experts, latents and fp8 add
  double special_kernels_per_layer = 0;  // of them, what experts, latents and fp8 add
  double expert_layers = 0;
  double dense_bytes = 0;   // weights of all layers but their routed experts
  double expert_bytes = 0;  // of all routed experts of all layers, on one of expert_ranks
  double experts = 0, active_experts = 0;
  double busiest_rank = 0;  // standard deviations by which the busiest of expert_ranks is above their mean
  double head_bytes = 0;    // of the language head
  double head_flops = 0;    // ... for one token
  double vocabulary = 0;
  double resident_bytes = 0;                       // of all weights, the embedding's table too
  double product_flops = 0;                        // of layers' products, for one token
  double product_fill_flops = 0;                   // ... that one further value of their inner sizes adds
  double expert_flops = 0, expert_fill_flops = 0;  // of both those with routed experts
  double head_dim = 0;
  double heads = 0, kv_heads = 0;  // on one device, rounded up
  double attention_layers = 0, windowed_layers = 0, window_tokens = 0;
  double cache_bytes_per_token = 0;       // of one layer
  double attention_flops_per_key = 0;     // of one layer and new token
  double prefill_flops_per_key = 0;       // ... of a prompt
  double activation_bytes_per_token = 0;  // of all layers, in prefill
  double hidden = 0;
  double state_bytes = 0;  // read and written for one token: state-space layers
  uint32_t unmeasured = 0;

  double context_tokens() const;             // mean of further tokens: the prompt and half the output
  double weight_bytes(double tokens) const;  // that a step of so many tokens reads: experts that one of them visits
};
// "bad-usage" names a field of the request; those of build_operators(). Decoders only: "no-decoder".
Result<EngineWork> engine_work(const LlmConfig& config, const EngineRequest& request);

// Seconds. Parts of the device add up to device_s.
struct EngineTokenTime {
  double weights_s = 0, kernels_s = 0, attention_s = 0, all_reduce_s = 0;
  double device_s = 0;
  double host_s = 0;
  double seconds = 0;
  bool host_bound() const { return host_s > device_s; }
};

// Seconds; the parts add up to `seconds`.
struct EngineFirstTime {
  double fixed_s = 0;      // HTTP, template, scheduler, client
  double tokeniser_s = 0;  // and copies
  double prefill_s = 0;    // the device's work on the prompt, with the head
  double launch_s = 0;     // what launches take beyond it
  double seconds = 0;
};

struct EngineForecast {
  EngineTokenTime token;      // of each further token: the inter-token latency
  EngineFirstTime first;      // to the first token, as the client sees it
  double client_token_s = 0;  // whole request over output tokens: guidellm's TPOT
  // Half widths of 90% intervals in logs: seconds within [s exp(-w), s exp(+w)].
  double token_log_half_width = 0, first_log_half_width = 0;
  uint32_t unmeasured = 0;  // bits of EngineUnmeasured
};

// EngineSpread::service_token_ratio and service_first_ratio, where they hold. A measured engine's are those of mixtures
// of experts: loads of other models agree with its intervals as they are, so 1.
struct ServiceRatios {
  double token = 1, first = 1;
};
ServiceRatios service_ratios(const EngineProfile& profile, const EngineWork& work);

// Whether the device has the facts that an engine's step needs: "unknown-fact" names those that are missing.
Status check_engine_device(const DeviceFacts& device, const EngineRequest& request);

// "unknown-fact". No allocation where the facts are there.
Result<EngineForecast> forecast_engine(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                                       const EngineHost& host);

// The parts alone: what a fit calls. The device is checked.
EngineTokenTime engine_token_time(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                                  const EngineHost& host);
EngineFirstTime engine_first_time(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                                  const EngineHost& host);

// A step of an engine that batches continuously: sequences that get their next token beside chunks of prompts.
struct EngineBatch {
  double decodes = 0, decode_context_tokens = 0;  // sequences; tokens that they see, summed
  double prefill_tokens = 0;
  double prefill_pairs = 0, prefill_windowed_pairs = 0;  // of a query and a key it sees, in a layer
  double tokens_per_decode = 1;                          // that are computed for each of the sequences
  double samples = 0;        // tokens that are chosen: those of decodes, and one for each prompt that ends
  double shared_tokens = 0;  // of all expert_ranks in this step, with its own; 0: expert_ranks times its own

  double tokens() const { return decodes * tokens_per_decode + prefill_tokens; }
};
// Seconds. Weights are read once for all; batches and prompts of `work.request` don't count. The device is checked.
// The host takes host_sequence_us more for each sequence beyond the first, and prompt_step_ms more for a step with
// prompts.
// Beside prompts, attention kernels of EngineProfile::unsplit_generations read keys once for each head of queries.
// Where expert_ranks share experts, each computes its part of all their tokens, and each layer with experts sends
// tokens to the ranks that hold them, and sums back. With pipeline_stages, the time of all stages: their devices one
// after the other, or the host once for each.
double engine_step_s(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                     const EngineHost& host, const EngineBatch& batch);

// What a stage of a pipeline sends to the next one: of a step, and of each of its tokens.
struct StageHop {
  double seconds = 0, token_s = 0;
};
StageHop stage_hop(const EngineProfile& profile, const EngineWork& work, const DeviceFacts& device,
                   const EngineHost& host);

// What a step of so many seconds uses of each of the devices that work on it.
AcceleratorLoad engine_step_load(const EngineWork& work, const DeviceFacts& device, const EngineBatch& batch,
                                 double seconds);

inline double client_token_s(double first_s, double token_s, double output_tokens) {
  return (first_s + (output_tokens - 1) * token_s) / output_tokens;
}

// Whether a link joins all of `devices` in one node: NVLink, or a bridge of two.
bool has_link_among(const DeviceFacts& device, int64_t devices);

}  // namespace perfcast::ai
