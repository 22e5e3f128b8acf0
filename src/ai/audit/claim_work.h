#pragma once
// What a claim is about, looked up: its device, its model, how it computes; and the least work and traffic that follow.
// Everything here is a bound from below: an honest claim never needs less.

#include <optional>
#include <string>
#include <vector>

#include "ai/audit/claim.h"
#include "ai/audit/known_models.h"
#include "ai/llm/model_config.h"
#include "base/unknown.h"
#include "machine/facts/device_facts.h"

namespace perfcast::ai {

// How products are computed, and what a stored weight takes at the least.
struct ClaimPrecision {
  std::vector<MathMode> modes;  // whose peak bounds it: the best of those that the device has
  double peak_factor = 1;       // times these: 2 for four-bit operands
  double weight_bytes = 2;
  double cache_bytes = 2;  // of a value of keys and values
  bool weights_only = false;
};

// By name, upper and lower case alike: fp32, tf32, fp16, bf16, fp8, int8, int4, fp4, w4a16, w8a16, w8a8, and the block
// formats of GGUF files (q4_k_m, ...); none where there is no such precision.
std::optional<ClaimPrecision> claim_precision_named(const std::string& name);
std::vector<std::string> claim_precision_names();

// The highest rate of products, FLOP/s of one device.
struct ClaimPeak {
  double flops = kUnknown;  // unknown: the catalogue has no peak that bounds it
  std::string mode;         // "half"
  bool has_units = true;    // false: the device has none for this precision; the bound is of what it would be run on
};
ClaimPeak dense_peak(const DeviceFacts& device, const std::optional<ClaimPrecision>& precision);
// Whether the device has units that skip two of four weights; they double every peak but that of fp32.
bool has_sparse_units(const DeviceFacts& device);

constexpr double kSparseShare = 0.5;  // of the weights that are there, 2:4

struct ResolvedClaim {
  const Claim* claim = nullptr;
  const DeviceFacts* device = nullptr;  // null: not stated, or unknown
  double devices = 1;
  const KnownModel* known = nullptr;
  std::optional<LlmConfig> language_model;
  bool is_product = false;
  std::optional<ClaimPrecision> precision;
  std::vector<std::string> unknown;  // what was stated and isn't known, with the nearest names: "device: ..."

  double batch() const { return static_cast<double>(claim->batch.value_or(1)); }
  // Sequences that a step serves at once, where stated: of batch and requests in flight the less, for some may wait.
  std::optional<double> streams() const;
  double memory_bytes_per_s() const { return device == nullptr ? kUnknown : device->memory_bytes_per_s * devices; }
};

struct AuditContext {
  const std::vector<DeviceFacts>* devices = nullptr;  // those of the claims file before the catalogue's
  const KnownModels* models = nullptr;
};

ResolvedClaim resolve_claim(const Claim& claim, const AuditContext& context);

// One step of a language model that yields a token of one sequence.
struct TokenWork {
  double flops = 0;         // of one token
  double weight_bytes = 0;  // read by a step, however many sequences it serves
  double cache_bytes = 0;   // read for one sequence
  double stored_bytes = 0;  // weights, all experts
  double prefill_flops_per_token = 0;
};
// None where the claim is of no language model that decodes. A precision that wasn't stated counts as four bits.
std::optional<TokenWork> token_work(const ResolvedClaim& resolved);

// The least FLOP of one sample or one product (all of a batch: times batch); unknown where the model's work is.
// `convolutional` work may be 2.25 times less where Winograd's products are taken.
struct SampleWork {
  double flops = kUnknown;
  double bytes = kUnknown;  // of a product: operands and result, once
  double least_factor = 1;  // of flops that is sure to be executed
  std::string basis;        // "2 x 4096 x 4096 x 4096"
};
SampleWork sample_work(const ResolvedClaim& resolved);

}  // namespace perfcast::ai
