// Against the data sheet. A peak of products is at the boost clock of the sheet; cards that clock higher exist, so that
// up to 5% above it is doubted, more is impossible. Memory has one clock: 2%.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/audit/claim_checks.h"
#include "ai/latency/model/device_catalogue.h"
#include "base/significant.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kClockSlack = 1.05, kMemorySlack = 1.02;
constexpr double kSparseFactor = 2;
constexpr double kSameShare = 1.2, kOtherWork = 10;  // of a stated share of the peak
constexpr double kMostTokensPerStep = 16;            // speculative decoding that does not say what it accepts

// A rate of products that the claim needs.
struct NeededFlops {
  double flops_per_s = 0;
  double least_factor = 1;  // of it that is sure
  std::string how;          // "2 x 4096 x 4096 x 4096 operations in 5.28 ms"
  std::string says = {};    // in the place of "HOW are RATE"
};

std::string flops_text(double value) { return claim_text(ClaimMetric::kFlops, value); }
std::string bytes_text(double value) { return claim_text(ClaimMetric::kBytesPerS, value); }
std::string device_text(const ResolvedClaim& resolved) {
  return resolved.devices > 1 ? fmt::format("{:g} x {}", resolved.devices, resolved.device->name)
                              : resolved.device->name;
}

// A stated rate as it is held against a bound: "at least 19 PFLOP/s (20 PFLOP/s, less rounding)".
std::string stated_text(const ClaimedNumber& number) {
  const std::string least = claim_text(number.metric, number.least());
  return least == number.text ? least : fmt::format("at least {} ({}, less rounding)", least, number.text);
}

double tokens_per_step(const Claim& claim) { return claim.tokens_per_step.value_or(1); }

void add_sample_needs(const ResolvedClaim& resolved, std::vector<NeededFlops>& needs) {
  const SampleWork work = sample_work(resolved);
  if (std::isnan(work.flops)) return;
  const Claim& claim = *resolved.claim;
  if (const ClaimedNumber* rate = claim.find(ClaimMetric::kSamplesPerS)) {
    needs.push_back({work.flops * rate->least(), work.least_factor, fmt::format("{}, {}", work.basis, rate->text)});
  }
  if (const ClaimedNumber* latency = claim.find(ClaimMetric::kLatency)) {
    needs.push_back({work.flops * resolved.batch() / latency->most(), work.least_factor,
                     resolved.batch() > 1 ? fmt::format("{:g} x {} in {}", resolved.batch(), work.basis, latency->text)
                                          : fmt::format("{} in {}", work.basis, latency->text)});
  }
}

// What a request takes: its prompt, where that is computed, and its new tokens.
void add_prompt_needs(const Claim& claim, const TokenWork& work, std::vector<NeededFlops>& needs) {
  const bool computes = claim.input_tokens && claim.prefix_cached != std::optional(true);
  const double prompt = computes ? work.prefill_flops_per_token * static_cast<double>(*claim.input_tokens) : 0;
  const ClaimedNumber* first = claim.find(ClaimMetric::kFirstToken);
  if (computes && first != nullptr) {
    needs.push_back({prompt / first->most(), 1,
                     fmt::format("{} operations of {} prompt tokens in {}", human_number(prompt), *claim.input_tokens,
                                 first->text)});
  }
  const bool is_prefill = claim.phase == ClaimPhase::kPrefill;
  if (is_prefill ? !computes : !claim.output_tokens) return;
  const double whole = prompt + (is_prefill ? 0 : work.flops * static_cast<double>(*claim.output_tokens));
  std::vector<std::string> tokens;
  if (computes) tokens.push_back(fmt::format("{} prompt", *claim.input_tokens));
  if (!is_prefill) tokens.push_back(fmt::format("{} new", *claim.output_tokens));
  const std::string of = fmt::format("{} operations of {} tokens", human_number(whole), join(tokens, " and "));
  if (const ClaimedNumber* latency = claim.find(ClaimMetric::kLatency); computes && latency != nullptr) {
    needs.push_back({whole / latency->most(), 1, of + " in " + latency->text});
  }
  if (const ClaimedNumber* rate = claim.find(ClaimMetric::kSamplesPerS)) {
    needs.push_back({whole * rate->least(), 1, of + ", " + rate->text});
  }
}

void add_token_needs(const ResolvedClaim& resolved, const TokenWork& work, std::vector<NeededFlops>& needs) {
  const Claim& claim = *resolved.claim;
  if (claim.phase != ClaimPhase::kDecode) {
    // Forward; of training also the gradients of weights and inputs.
    const double flops = work.prefill_flops_per_token * (claim.phase == ClaimPhase::kTraining ? 3 : 1);
    if (const ClaimedNumber* rate = claim.find(ClaimMetric::kTokensPerS)) {
      needs.push_back(
          {flops * rate->least(), 1, fmt::format("{} operations a token, {}", human_number(flops), rate->text)});
    }
    if (claim.phase == ClaimPhase::kPrefill) add_prompt_needs(claim, work, needs);
    return;
  }
  const std::string each = fmt::format("{} operations a token", human_number(work.flops));
  if (const ClaimedNumber* rate = claim.find(ClaimMetric::kTokensPerS)) {
    const double streams = claim.scope == ClaimScope::kPerUser ? resolved.streams().value_or(1) : 1;
    needs.push_back(
        {work.flops * rate->least() * streams, 1,
         fmt::format("{}, {}{}", each, rate->text, streams > 1 ? fmt::format(" for each of {:g}", streams) : "")});
  }
  if (const ClaimedNumber* time = claim.find(ClaimMetric::kTokenTime)) {
    const double streams = resolved.streams().value_or(1);
    needs.push_back({work.flops * streams / time->most(), 1,
                     fmt::format("{}, one each {} for {:g} sequences", each, time->text, streams)});
  }
  add_prompt_needs(claim, work, needs);
}

// What other precision of the device would allow the rate.
std::string allowing_mode(const ResolvedClaim& resolved, double flops_per_s) {
  const DeviceFacts& device = *resolved.device;
  for (const MathMode mode : {MathMode::kTf32, MathMode::kHalf, MathMode::kInt8, MathMode::kFp8}) {
    const double peak = device.peak(mode) * resolved.devices;
    if (flops_per_s <= peak)
      return fmt::format("{}, whose peak is {}, would allow it", name_of(mode), flops_text(peak));
  }
  return "";
}

void judge_flops(const ResolvedClaim& resolved, const NeededFlops& need, ClaimAudit& audit) {
  const ClaimPeak peak = dense_peak(*resolved.device, resolved.precision);
  if (std::isnan(peak.flops)) return;
  const Claim& claim = *resolved.claim;
  const double dense = peak.flops * resolved.devices;
  const bool may_skip = has_sparse_units(*resolved.device) && !peak.mode.starts_with("fp32");
  const bool sparse_stated = claim.sparse == std::optional(true) && may_skip;
  const double bound = sparse_stated ? kSparseFactor * dense : dense;
  const double ratio = need.flops_per_s / bound, sure = ratio * need.least_factor;
  audit.bound_checked = true;
  audit.bound_share = std::max(audit.bound_share, sure);
  const std::string compared = fmt::format(
      "{}: {}% of the {} of {} ({}{})",
      need.says.empty() ? need.how + " are " + flops_text(need.flops_per_s) : need.says, significant(100 * ratio, 3),
      flops_text(bound), device_text(resolved), peak.mode, sparse_stated ? ", 2:4 sparse" : "");
  if (ratio <= 1) {
    audit.made.push_back(compared);
    return;
  }
  AuditReason reason;
  reason.numbers = {{"needed_flops_per_s", need.flops_per_s}, {"peak_flops_per_s", bound}, {"ratio", ratio}};
  reason.text = compared;
  const std::string other = allowing_mode(resolved, need.flops_per_s);
  const bool could_be_sparse = may_skip && !claim.sparse && sure <= kSparseFactor * kClockSlack;
  if (sure <= kClockSlack) {
    reason.code = ratio <= kClockSlack ? "near-peak-flops" : "work-left-out";
    reason.severity = AuditVerdict::kDoubtful;
    reason.mend = reason.code == "near-peak-flops"
                      ? "the clock that it ran at, and how the time was taken"
                      : "say what of the model was not computed: padding, or products that Winograd's method saves";
  } else if (could_be_sparse) {
    reason.code = "sparse-peak";
    reason.severity = AuditVerdict::kDoubtful;
    reason.text += "; only with 2:4 sparse weights, whose peak is twice as high, could it be";
    reason.mend =
        "say whether weights are 2:4 sparse, and what that costs in accuracy; dense peaks are the usual measure";
  } else {
    reason.code = "above-peak-flops";
    reason.severity = AuditVerdict::kImpossible;
    reason.mend = "check the time, the size of the problem and the number of devices";
    if (!other.empty()) {
      reason.text += "; " + other;
      reason.mend += "; say which units computed, and in what precision";
    }
  }
  audit.add(std::move(reason));
}

// A stated share of the peak, against the one that the claim's own rate takes. What a claim may not state, such as
// prompts or recomputation, is work too, but not ten times as much. A share may also be meant of the bandwidth.
void check_stated_share(const ResolvedClaim& resolved, const NeededFlops& need, ClaimAudit& audit) {
  const Claim& claim = *resolved.claim;
  const ClaimedNumber* share = claim.find(ClaimMetric::kUtilisation);
  if (share == nullptr || claim.find(ClaimMetric::kFlops) != nullptr) return;  // with FLOP/s: check_consistency()
  const auto precision = resolved.precision ? resolved.precision : claim_precision_named("fp16");
  const ClaimPeak peak = dense_peak(*resolved.device, precision);
  if (std::isnan(peak.flops)) return;
  const double follows = need.flops_per_s / (peak.flops * resolved.devices);
  const double above = share->value / follows, below = follows * need.least_factor / share->value;
  const std::string said = fmt::format("{} are {}% of the dense peak ({}), and {} is claimed", need.how,
                                       significant(100 * follows, 2), peak.mode, share->text);
  const auto near = [&](double other) {
    return share->value <= kSameShare * other && other <= kSameShare * share->value;
  };
  if ((above <= kSameShare && below <= kSameShare) || near(audit.bound_share)) {
    audit.made.push_back(said);
    return;
  }
  const bool of_another_peak = !resolved.precision || claim.sparse == std::optional(true);
  const bool sure = above > kOtherWork || (below > kSameShare && !of_another_peak);
  audit.add({"self-contradiction",
             sure ? AuditVerdict::kImpossible : AuditVerdict::kDoubtful,
             said,
             "the peak that the share is of, and what else was computed: prompts, other sequences, recomputation",
             {{"ratio", std::max(above, below)}}});
}

// One rate of reading that the claim needs. `says`: "HOW are RATE".
void judge_bytes(const ResolvedClaim& resolved, double bytes_per_s, const std::string& says, ClaimAudit& audit) {
  const double bound = resolved.memory_bytes_per_s();
  const double ratio = bytes_per_s / bound;
  audit.bound_checked = true;
  audit.bound_share = std::max(audit.bound_share, ratio);
  const std::string compared = fmt::format("{}: {}% of the {} of {}", says, significant(100 * ratio, 3),
                                           bytes_text(bound), device_text(resolved));
  if (ratio <= 1) {
    audit.made.push_back(compared);
    return;
  }
  AuditReason reason;
  reason.numbers = {{"needed_bytes_per_s", bytes_per_s}, {"memory_bytes_per_s", bound}, {"ratio", ratio}};
  reason.text = compared;
  reason.code = "above-memory-bandwidth";
  reason.severity = ratio > kMemorySlack ? AuditVerdict::kImpossible : AuditVerdict::kDoubtful;
  reason.mend =
      "check the number of devices, of sequences in a step, the precision of the weights, and that prompt tokens are "
      "not counted";
  const Claim& claim = *resolved.claim;
  if (claim.speculative == std::optional(true) && !claim.tokens_per_step && ratio <= kMostTokensPerStep) {
    reason.code = "speculation-unstated";
    reason.severity = AuditVerdict::kDoubtful;
    reason.text += fmt::format("; a pass would have to yield {} tokens", significant(ratio, 2));
    reason.mend = "state how many tokens a pass yields on average, and on which text";
  }
  audit.add(std::move(reason));
}

void check_decode_traffic(const ResolvedClaim& resolved, const TokenWork& work, ClaimAudit& audit) {
  const Claim& claim = *resolved.claim;
  if (claim.phase != ClaimPhase::kDecode) return;  // all tokens of a sequence share a reading of the weights
  const double l2 = resolved.device->l2_bytes;
  if (work.stored_bytes / resolved.devices <= l2) {
    audit.not_made.push_back("memory bandwidth: the weights may stay in the device's cache");
    return;
  }
  const double cache = claim.prefix_cached == std::optional(true) ? 0 : work.cache_bytes;
  const auto streams = resolved.streams();
  const auto step = [&](double steps_per_s, double served, const std::string& what) {
    const double bytes_per_s = steps_per_s * (work.weight_bytes + served * cache);
    judge_bytes(
        resolved, bytes_per_s,
        fmt::format("{} passes per second over {} of weights{} ({}) are {}", significant(steps_per_s, 3),
                    human_bytes(work.weight_bytes),
                    served * cache > 0 ? fmt::format(" and {} of cached keys and values", human_bytes(served * cache))
                                       : std::string(),
                    what, bytes_text(bytes_per_s)),
        audit);
  };
  if (const ClaimedNumber* time = claim.find(ClaimMetric::kTokenTime)) {
    step(1 / time->most() / tokens_per_step(claim), streams.value_or(1), time->text + " a token");
  }
  const ClaimedNumber* latency = claim.find(ClaimMetric::kLatency);
  if (latency != nullptr && claim.output_tokens) {
    const double passes = static_cast<double>(*claim.output_tokens) / tokens_per_step(claim);
    step(passes / latency->most(), streams.value_or(1),
         fmt::format("{} tokens in {}", *claim.output_tokens, latency->text));
  }
  const ClaimedNumber* rate = claim.find(ClaimMetric::kTokensPerS);
  if (rate == nullptr) return;
  const double tokens_per_s = rate->least() / tokens_per_step(claim);
  if (claim.scope == ClaimScope::kPerUser) {
    step(tokens_per_s, streams.value_or(1), rate->text + " for each user");
  } else if (streams) {
    step(tokens_per_s / *streams, *streams, fmt::format("{}, {:g} at once", rate->text, *streams));
  } else {
    const double alone = resolved.memory_bytes_per_s() / (work.weight_bytes + cache) * tokens_per_step(claim);
    const double at_once = work.weight_bytes / (resolved.memory_bytes_per_s() / tokens_per_s - cache);
    if (!(at_once > 0) || !std::isfinite(at_once)) {
      judge_bytes(resolved, tokens_per_s * cache, "the keys and values alone are " + bytes_text(tokens_per_s * cache),
                  audit);
      return;
    }
    audit.bound_checked = true;
    std::string said = fmt::format(
        "one sequence alone can have at most {} tokens/s, as each token reads {} of weights; {} take {:g} at once",
        significant(alone, 4), human_bytes(work.weight_bytes), rate->text, std::max(1.0, std::ceil(at_once)));
    if (tokens_per_s > alone / tokens_per_step(claim)) {
      audit.add({"batch-unstated",
                 AuditVerdict::kIncomplete,
                 std::move(said),
                 "state how many sequences a step serves",
                 {{"single_tokens_per_s", alone}, {"least_sequences", std::ceil(at_once)}}});
    } else {
      audit.bound_share = std::max(audit.bound_share, tokens_per_s * tokens_per_step(claim) / alone);
      audit.made.push_back(std::move(said));
    }
  }
}

// Where the format of the weights isn't stated, the other checks take four bits, which few use: says what wider ones
// allow, and which the rate takes.
void check_unstated_precision(const ResolvedClaim& resolved, const TokenWork& work, ClaimAudit& audit) {
  constexpr double kAssumedBits = 4, kUsualBits = 16;
  const Claim& claim = *resolved.claim;
  const ClaimedNumber* rate = claim.find(ClaimMetric::kTokensPerS);
  if (resolved.precision || rate == nullptr || claim.phase != ClaimPhase::kDecode || audit.bound_share > 1) return;
  const bool per_user = claim.scope == ClaimScope::kPerUser;
  const double served = resolved.streams().value_or(1), cache = served * work.cache_bytes;
  const auto most = [&](double bits) {
    const double steps_per_s = resolved.memory_bytes_per_s() / (work.weight_bytes * bits / kAssumedBits + cache);
    return steps_per_s * tokens_per_step(claim) * (per_user ? 1 : served);
  };
  const double steps_per_s = rate->least() / tokens_per_step(claim) / (per_user ? 1 : served);
  const double bits = kAssumedBits * (resolved.memory_bytes_per_s() / steps_per_s - cache) / work.weight_bytes;
  if (!(bits >= kAssumedBits)) return;  // more sequences at once are needed whatever the format: said elsewhere
  std::string said = fmt::format(
      "with weights of 16 bits {} can have at most {} tokens/s, of 8 bits {}, of 4 "
      "bits {}",
      served == 1 ? "one sequence" : fmt::format("{:g} sequences", served), significant(most(kUsualBits), 3),
      significant(most(kUsualBits / 2), 3), significant(most(kAssumedBits), 3));
  if (bits >= kUsualBits) {
    audit.made.push_back(std::move(said));
    return;
  }
  said += fmt::format("; {} take weights of {} bits or fewer{}", rate->text, significant(bits, 2),
                      resolved.streams() ? "" : ", or several sequences at once");
  audit.add({"precision-unstated",
             AuditVerdict::kIncomplete,
             std::move(said),
             "state the format of the weights",
             {{"most_weight_bits", bits}}});
}

void check_capacity(const ResolvedClaim& resolved, ClaimAudit& audit) {
  const Claim& claim = *resolved.claim;
  if (!resolved.precision || claim.offload == std::optional(true)) return;
  double stored = kUnknown;
  if (resolved.language_model) {
    if (const auto count = count_parameters(*resolved.language_model)) {
      stored = static_cast<double>(count->total) * resolved.precision->weight_bytes;
    }
  } else if (resolved.known != nullptr) {
    stored = resolved.known->parameters * resolved.precision->weight_bytes;
  }
  if (claim.sparse == std::optional(true)) stored *= kSparseShare;
  const double room = resolved.device->memory_bytes * resolved.devices;
  if (std::isnan(stored) || std::isnan(room)) return;
  std::string said =
      fmt::format("weights of {} in {} of {}", human_bytes(stored), human_bytes(room), device_text(resolved));
  if (stored <= room) {
    audit.made.push_back(std::move(said));
    return;
  }
  audit.add({"does-not-fit",
             AuditVerdict::kImpossible,
             "the model does not fit: " + said,
             "state the number of devices, the precision of the weights, or that they are held by the host (offload)",
             {{"weight_bytes", stored}, {"memory_bytes", room}}});
}

void check_units(const ResolvedClaim& resolved, ClaimAudit& audit) {
  const Claim& claim = *resolved.claim;
  if (resolved.precision) {
    const ClaimPeak peak = dense_peak(*resolved.device, resolved.precision);
    const bool integers =
        resolved.precision->modes.front() == MathMode::kInt8;  // cores without units for them have some
    if (!peak.has_units && !std::isnan(peak.flops) && !integers) {
      audit.add({"precision-mismatch",
                 AuditVerdict::kDoubtful,
                 fmt::format("{} has no units for {}", resolved.device->name, claim.precision),
                 "state what products are computed in; if only weights are stored so, say that (weights)",
                 {}});
    } else if (std::isnan(peak.flops)) {
      audit.not_made.push_back(
          fmt::format("products: the catalogue has no peak of {} for {}", resolved.device->name, claim.precision));
    }
  }
  if (claim.sparse == std::optional(true) && !has_sparse_units(*resolved.device)) {
    audit.add(
        {"precision-mismatch",
         AuditVerdict::kDoubtful,
         fmt::format("{} has no units that skip weights: 2:4 sparsity does not raise its peak", resolved.device->name),
         "the dense figure",
         {}});
  }
}

void check_stated_rates(const ResolvedClaim& resolved, ClaimAudit& audit) {
  const Claim& claim = *resolved.claim;
  if (const ClaimedNumber* share = claim.find(ClaimMetric::kUtilisation); share != nullptr && share->value > 1) {
    audit.add({"above-peak-flops",
               AuditVerdict::kImpossible,
               fmt::format("a utilisation of {} is above all", share->text),
               "say of which peak; a share of a dense peak by work of a sparse one is none",
               {{"ratio", share->value}}});
  }
  if (resolved.device == nullptr) return;
  if (const ClaimedNumber* rate = claim.find(ClaimMetric::kFlops)) {
    judge_flops(resolved, {rate->least(), 1, rate->text, stated_text(*rate)}, audit);
  }
  const ClaimedNumber* bytes = claim.find(ClaimMetric::kBytesPerS);
  if (bytes == nullptr) return;
  if (claim.in_cache == std::optional(true)) {
    audit.not_made.push_back("memory bandwidth: the claim is of a cache");
  } else {
    judge_bytes(resolved, bytes->least(), stated_text(*bytes), audit);
  }
}

}  // namespace

void check_bounds(const ResolvedClaim& resolved, ClaimAudit& audit) {
  const Claim& claim = *resolved.claim;
  check_stated_rates(resolved, audit);
  const auto tokens = token_work(resolved);
  if (resolved.device == nullptr) {
    audit.not_made.push_back(claim.device.empty() ? "peak and bandwidth: no device is stated"
                                                  : "peak and bandwidth: the device is not known");
    const ClaimedNumber* time = claim.find(ClaimMetric::kTokenTime);
    if (tokens && time != nullptr && claim.tokens_per_step.value_or(1) == 1 &&
        claim.speculative != std::optional(true)) {
      audit.not_made.back() += fmt::format("; a token each {} of {} reads {} each time{}: {} of memory at the least",
                                           time->text, resolved.language_model->name, human_bytes(tokens->weight_bytes),
                                           resolved.precision ? "" : " even at four bits a weight",
                                           bytes_text(tokens->weight_bytes / time->value));
    }
    return;
  }
  check_units(resolved, audit);
  check_capacity(resolved, audit);
  std::vector<NeededFlops> needs;
  if (tokens) {
    add_token_needs(resolved, *tokens, needs);
    check_decode_traffic(resolved, *tokens, audit);
    check_unstated_precision(resolved, *tokens, audit);
  } else {
    add_sample_needs(resolved, needs);
  }
  for (const NeededFlops& need : needs) judge_flops(resolved, need, audit);
  if (!needs.empty()) check_stated_share(resolved, needs.front(), audit);
  if (needs.empty() && claim.find(ClaimMetric::kFlops) == nullptr && claim.find(ClaimMetric::kBytesPerS) == nullptr &&
      !claim.numbers.empty()) {
    audit.not_made.push_back(resolved.is_product && claim.shape.empty() ? "products: the shape is not stated"
                                                                        : "products: the model's work is not known");
  }
  const SampleWork product = sample_work(resolved);
  const ClaimedNumber* latency = claim.find(ClaimMetric::kLatency);
  if (resolved.is_product && latency != nullptr && product.bytes > resolved.device->l2_bytes * resolved.devices) {
    const double bytes_per_s = product.bytes * resolved.batch() / latency->most();
    judge_bytes(resolved, bytes_per_s, "operands and result, once, are " + bytes_text(bytes_per_s), audit);
  }
}

}  // namespace perfcast::ai
