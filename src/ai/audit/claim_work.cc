#include "ai/audit/claim_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ai/latency/model/device_catalogue.h"
#include "ai/llm/model_catalogue.h"
#include "ai/llm/operator_graph.h"
#include "ai/llm/precision.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kWinograd = 1 / 2.25;  // F(2 x 2, 3 x 3): 16 products in the place of 36

struct PrecisionRow {
  std::string_view name;
  std::array<int, 2> modes;  // -1: none
  double factor, weight_bytes, cache_bytes;
  bool weights_only;
};

constexpr int kNone = -1;
constexpr int kM32 = static_cast<int>(MathMode::kFp32), kMT = static_cast<int>(MathMode::kTf32),
              kMH = static_cast<int>(MathMode::kHalf), kM8 = static_cast<int>(MathMode::kFp8),
              kMI = static_cast<int>(MathMode::kInt8);
constexpr PrecisionRow kPrecisionRows[] = {
    {"fp32", {kM32, kNone}, 1, 4, 2, false},   {"tf32", {kMT, kNone}, 1, 4, 2, false},
    {"fp16", {kMH, kNone}, 1, 2, 2, false},    {"bf16", {kMH, kNone}, 1, 2, 2, false},
    {"half", {kMH, kNone}, 1, 2, 2, false},    {"fp8", {kM8, kNone}, 1, 1, 1, false},
    {"int8", {kMI, kNone}, 1, 1, 1, false},    {"w8a8", {kMI, kM8}, 1, 1, 1, false},
    {"int4", {kMI, kM8}, 2, 0.5, 0.5, false},  {"fp4", {kM8, kMI}, 2, 0.5, 0.5, false},
    {"nvfp4", {kM8, kMI}, 2, 0.5, 0.5, false}, {"mxfp4", {kM8, kMI}, 2, 0.5, 0.5, false},
    {"w4a16", {kMH, kNone}, 1, 0.5, 1, true},  {"w8a16", {kMH, kNone}, 1, 1, 1, true},
    {"w4a8", {kMI, kM8}, 1, 0.5, 1, true},
};

std::string mode_names(const std::vector<MathMode>& modes) {
  std::vector<std::string> names;
  names.reserve(modes.size());
  for (const MathMode mode : modes) names.emplace_back(name_of(mode));
  return join(names, " or ");
}

const DeviceFacts* device_named(const std::vector<DeviceFacts>& devices, const std::string& name,
                                std::string& problem) {
  DeviceCatalogue one;
  std::vector<std::string> names;
  names.reserve(devices.size());
  for (const DeviceFacts& device : devices) {
    one.devices = {device};
    if (find_device(one, name).ok()) return &device;
    names.push_back(device.name);
    names.insert(names.end(), device.aliases.begin(), device.aliases.end());
  }
  problem =
      fmt::format("no device is named '{}'; nearest: {}", printable(name.substr(0, 60)), nearest_names(name, names, 3));
  return nullptr;
}

void resolve_model(ResolvedClaim& resolved, const AuditContext& context) {
  const std::string& name = resolved.claim->model;
  if (name.empty()) {
    resolved.is_product = !resolved.claim->shape.empty();
    return;
  }
  const std::string plain = lower_case(name);
  if (plain == "gemm" || plain == "matmul" || plain == "product") {
    resolved.is_product = true;
    return;
  }
  if (context.models != nullptr) resolved.known = find_known_model(*context.models, name);
  const std::string language_model =
      resolved.known != nullptr && !resolved.known->language_model.empty() ? resolved.known->language_model : name;
  if (auto config = built_in_model(language_model)) {
    resolved.language_model = *std::move(config);
    return;
  }
  if (resolved.known != nullptr) return;
  std::vector<std::string> names = built_in_models();
  if (context.models != nullptr) {
    const auto more = names_of(*context.models);
    names.insert(names.end(), more.begin(), more.end());
  }
  names.emplace_back("gemm");
  resolved.unknown.push_back(fmt::format("model: nothing is known of '{}'; nearest: {}", printable(name.substr(0, 60)),
                                         nearest_names(name, names, 3)));
}

std::optional<ClaimPrecision> stated_precision(const Claim& claim, std::vector<std::string>& unknown) {
  std::optional<ClaimPrecision> precision;
  const auto complain = [&](const char* field, const std::string& name) {
    unknown.push_back(fmt::format("{}: there is no precision '{}'; nearest: {}", field, printable(name.substr(0, 60)),
                                  nearest_names(name, claim_precision_names(), 3)));
  };
  if (!claim.precision.empty()) {
    precision = claim_precision_named(claim.precision);
    if (!precision) complain("precision", claim.precision);
  }
  if (!claim.weights.empty()) {
    const auto weights = claim_precision_named(claim.weights);
    if (!weights) complain("weights", claim.weights);
    if (weights && precision) precision->weight_bytes = weights->weight_bytes;
    if (weights && !precision && claim.precision.empty()) precision = weights;
  }
  return precision;
}

}  // namespace

std::optional<ClaimPrecision> claim_precision_named(const std::string& name) {
  const std::string wanted = lower_case(trim(name));
  for (const PrecisionRow& row : kPrecisionRows) {
    if (row.name != wanted) continue;
    ClaimPrecision precision;
    for (const int mode : row.modes) {
      if (mode != kNone) precision.modes.push_back(static_cast<MathMode>(mode));
    }
    precision.peak_factor = row.factor;
    precision.weight_bytes = row.weight_bytes;
    precision.cache_bytes = row.cache_bytes;
    precision.weights_only = row.weights_only;
    return precision;
  }
  const auto block = precision_named(wanted);
  if (!block || !info(*block).weights_only) return std::nullopt;
  // Engines turn blocks into halves, or activations into int8.
  return ClaimPrecision{{MathMode::kHalf, MathMode::kInt8}, 1, bytes_per_value(*block), 0.5, true};
}

std::vector<std::string> claim_precision_names() {
  std::vector<std::string> names;
  for (const PrecisionRow& row : kPrecisionRows) names.emplace_back(row.name);
  for (const std::string& name : precision_names()) {
    if (name.starts_with("q")) names.push_back(name);
  }
  return names;
}

ClaimPeak dense_peak(const DeviceFacts& device, const std::optional<ClaimPrecision>& precision) {
  ClaimPeak peak;
  const auto take = [&](MathMode mode, double factor) {
    const double flops = device.peak(mode) * factor;
    if (std::isnan(flops) || flops <= peak.flops) return;
    peak.flops = flops;
    peak.mode = factor == 1 ? std::string(name_of(mode)) : fmt::format("{:g} x {}", factor, name_of(mode));
  };
  constexpr MathMode kAll[] = {MathMode::kFp32, MathMode::kTf32, MathMode::kHalf, MathMode::kFp8, MathMode::kInt8};
  if (!precision) {
    // Not stated: the best that the device has, and four-bit operands at twice its eight-bit rate.
    for (const MathMode mode : kAll) {
      take(mode, mode == MathMode::kFp8 || mode == MathMode::kInt8 ? 2 : 1);
    }
    return peak;
  }
  for (const MathMode mode : precision->modes) take(mode, precision->peak_factor);
  if (!std::isnan(peak.flops)) return peak;
  // No units for it. Where the device has some for products of halves, everything narrower runs on those or on int8.
  peak.has_units = false;
  if (std::isnan(device.peak(MathMode::kHalf))) return peak;
  for (const MathMode mode : {MathMode::kTf32, MathMode::kHalf, MathMode::kInt8}) take(mode, 1);
  peak.mode = peak.mode + ", as there are no units for " + mode_names(precision->modes);
  return peak;
}

bool has_sparse_units(const DeviceFacts& device) {
  constexpr std::array<std::string_view, 6> kWith = {"ampere",          "ada",  "hopper", "blackwell",
                                                     "blackwell-ultra", "cdna3"};
  return std::find(kWith.begin(), kWith.end(), device.generation) != kWith.end();
}

std::optional<double> ResolvedClaim::streams() const {
  if (claim->concurrency && claim->batch) return static_cast<double>(std::min(*claim->concurrency, *claim->batch));
  if (claim->concurrency) return static_cast<double>(*claim->concurrency);
  if (claim->batch) return static_cast<double>(*claim->batch);
  return std::nullopt;
}

ResolvedClaim resolve_claim(const Claim& claim, const AuditContext& context) {
  ResolvedClaim resolved;
  resolved.claim = &claim;
  if (!claim.device.empty() && context.devices != nullptr) {
    std::string problem;
    resolved.device = device_named(*context.devices, claim.device, problem);
    if (resolved.device == nullptr) resolved.unknown.push_back("device: " + problem);
  }
  resolved.devices = static_cast<double>(claim.devices.value_or(1));
  resolve_model(resolved, context);
  resolved.precision = stated_precision(claim, resolved.unknown);
  return resolved;
}

std::optional<TokenWork> token_work(const ResolvedClaim& resolved) {
  if (!resolved.language_model || !resolved.language_model->has_cache()) return std::nullopt;
  const LlmConfig& config = *resolved.language_model;
  const Claim& claim = *resolved.claim;
  const double stored_share = claim.sparse == std::optional(true) ? kSparseShare : 1;
  const double weight_bytes = stored_share * (resolved.precision ? resolved.precision->weight_bytes : 0.5);
  const double cache_bytes = resolved.precision ? resolved.precision->cache_bytes : 0.5;
  LlmWorkload workload;
  workload.phase = LlmPhase::kDecode;
  workload.sequence = 1;
  workload.context = std::max<int64_t>(1, claim.sequence.value_or(claim.input_tokens.value_or(1)));
  if (config.max_positions > 0) workload.context = std::min(workload.context, config.max_positions);
  workload.weight_bits_per_value = 8 * weight_bytes;
  workload.kv = Precision::kFp16;
  OperatorGraph graph;
  if (!build_operators(config, workload, graph)) return std::nullopt;
  const auto totals = total_operators(config, workload, graph);
  if (!totals) return std::nullopt;
  TokenWork work;
  work.flops = 0;
  for (const LlmOperator& each : graph) {
    if (!each.is_product()) continue;  // what else is computed may be folded into the products
    work.flops += each.total_flops();
    work.weight_bytes += each.weight_bytes * static_cast<double>(each.count);
    work.cache_bytes +=
        each.kv_bytes * static_cast<double>(each.count) * cache_bytes / bytes_per_value(Precision::kFp16);
  }
  work.stored_bytes = static_cast<double>(totals->parameters.total) * weight_bytes;
  // Of a prompt only the last position needs the head, and of attention the half below the diagonal.
  const double head = static_cast<double>(config.vocab) * static_cast<double>(config.hidden);
  const double inner = static_cast<double>(totals->parameters.active - totals->parameters.embedding) -
                       (config.tied_embeddings ? 0 : head);
  work.prefill_flops_per_token = 2 * std::max(0.0, inner);
  return work;
}

SampleWork sample_work(const ResolvedClaim& resolved) {
  SampleWork work;
  const Claim& claim = *resolved.claim;
  if (resolved.is_product) {
    if (claim.shape.size() != 3) return work;
    const auto m = static_cast<double>(claim.shape[0]), n = static_cast<double>(claim.shape[1]),
               k = static_cast<double>(claim.shape[2]);
    work.flops = 2 * m * n * k;
    const double value_bytes = resolved.precision ? resolved.precision->weight_bytes : 0.5;
    work.bytes = (m * k + k * n + m * n) * value_bytes;
    work.basis = fmt::format("2 x {:g} x {:g} x {:g}", m, n, k);
    return work;
  }
  if (resolved.language_model && !resolved.language_model->has_cache()) {
    const LlmConfig& config = *resolved.language_model;
    const double least = resolved.known != nullptr && !std::isnan(resolved.known->tokens_per_sample_least)
                             ? resolved.known->tokens_per_sample_least
                             : 1;
    const int64_t stated = claim.sequence.value_or(claim.input_tokens.value_or(0));
    LlmWorkload workload;
    workload.phase = LlmPhase::kPrefill;
    workload.sequence = config.kind == LlmKind::kVision ? config.vision.tokens()
                        : stated > 0                    ? stated
                                                        : static_cast<int64_t>(least);
    OperatorGraph graph;
    if (!build_operators(config, workload, graph)) return work;
    double flops = 0;
    for (const LlmOperator& each : graph) {
      if (each.is_product() && each.name != OperatorName::kLanguageHead) flops += each.total_flops();
    }
    work.flops = flops;
    // Padding need not be computed: only the tokens that the data set has on average are sure.
    if (config.kind != LlmKind::kVision && claim.padded != std::optional(true)) {
      work.least_factor = std::min(1.0, least / static_cast<double>(workload.sequence));
    }
    work.basis = fmt::format("{} with {} tokens", config.name, workload.sequence);
    return work;
  }
  if (resolved.known != nullptr && !std::isnan(resolved.known->flops_per_sample_least)) {
    work.flops = resolved.known->flops_per_sample_least;
    if (resolved.known->convolutional) work.least_factor = kWinograd;
    work.basis = fmt::format("{} operations per sample of {}", human_number(work.flops), resolved.known->name);
  }
  return work;
}

}  // namespace perfcast::ai
