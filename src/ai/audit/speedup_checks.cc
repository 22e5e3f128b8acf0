// Speed-ups: arithmetic of the printed numbers, and whether what they are over is a fair opponent.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/audit/claim_checks.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kSmallError = 1.05;  // a speed-up this far off is a slip; more is another number
constexpr double kFasterOpponent = 1.5;
constexpr double kZeros = 0.05;
constexpr double kWeakShare = 0.1;  // of what the opponent's device could do
constexpr double kShortestSeconds = 1e-5;

struct Opponent {
  std::string name, device, precision;
  const ClaimedNumber* number = nullptr;
  const Claim* claim = nullptr;
  ClaimRung rung = ClaimRung::kUnstated;
  std::optional<int64_t> threads;
};

Opponent opponent_of(const ClaimedSpeedup& speedup, const ClaimsFile& file, ClaimMetric metric) {
  Opponent opponent;
  const ClaimedBaseline& over = speedup.over;
  if (over.claim.empty()) {
    opponent = {"its baseline", over.device, over.precision, nullptr, nullptr, over.rung, over.threads};
    if (over.number && over.number->metric == metric) opponent.number = &*over.number;
    return opponent;
  }
  for (const Claim& claim : file.claims) {
    if (claim.id != over.claim) continue;
    opponent = {"'" + claim.id + "'", claim.device, claim.precision, claim.find(metric), &claim,
                claim.rung,           claim.threads};
  }
  return opponent;
}

// How many times faster `own` is: a time that is shorter, or a rate that is higher.
double times_faster(ClaimMetric metric, double own, double other) {
  return is_time(metric) ? other / own : own / other;
}

// More digits than a table has: what a number was before it was rounded.
std::string unrounded_text(ClaimMetric metric, double value) {
  if (!is_time(metric)) return claim_text(metric, value);
  return value < 1 ? fmt::format("{:.5g} ms", 1e3 * value) : fmt::format("{:.6g} s", value);
}

std::string times_text(double factor) {
  return factor < 1000 ? fmt::format("{:.3g}", factor) : fmt::format("{:.0f}", factor);
}

void check_arithmetic(const ClaimedSpeedup& speedup, const ClaimedNumber& own, const Opponent& opponent,
                      ClaimAudit& audit) {
  const ClaimedNumber& other = *opponent.number;
  const double claimed = speedup.ratio.value;
  // One in the last digit that is printed; closing zeros are meant, but for 5%.
  const double unit = std::min(2 * speedup.ratio.half_unit, std::max(1.0, kZeros * claimed));
  const double follows = times_faster(own.metric, own.value, other.value);
  const std::string said = fmt::format("{} and {} of {} make {:.6g}x", own.text, other.text, opponent.name, follows);
  // Rounded, or cut off.
  if (claimed - follows <= unit / 2 * (1 + 1e-9) && follows - claimed < unit) {
    audit.made.push_back(fmt::format("{}; {} is claimed", said, speedup.ratio.text));
    return;
  }
  const bool time = is_time(own.metric);
  const double ends[] = {
      times_faster(own.metric, time ? own.most() : own.least(), time ? other.least() : other.most()),
      times_faster(own.metric, time ? own.least() : own.most(), time ? other.most() : other.least())};
  const bool within = claimed + unit >= ends[0] && claimed - unit / 2 <= ends[1];
  const double ratio = std::max(claimed / follows, follows / claimed);
  AuditReason reason;
  reason.code = within ? "speedup-rounding" : "speedup-arithmetic";
  reason.severity = !within && ratio > kSmallError ? AuditVerdict::kImpossible : AuditVerdict::kDoubtful;
  reason.text = fmt::format("{}, not {}", said, speedup.ratio.text);
  reason.text +=
      within
          ? fmt::format(": it takes {} before rounding, so it has more digits than what it was made from",
                        unrounded_text(own.metric, is_time(own.metric) ? other.value / claimed : other.value * claimed))
          : fmt::format("; rounding explains {:.6g}x to {:.6g}x", ends[0], ends[1]);
  reason.mend =
      within ? "no more digits than the times have, or the times with more" : "correct the time or the speed-up";
  reason.numbers = {
      {"claimed_ratio", claimed}, {"follows_ratio", follows}, {"lower_ratio", ends[0]}, {"upper_ratio", ends[1]}};
  audit.add(std::move(reason));
}

bool is_impossible(const Claim& claim, const AuditContext& context) {
  ClaimAudit bounds;
  check_bounds(resolve_claim(claim, context), bounds);
  return std::any_of(bounds.reasons.begin(), bounds.reasons.end(),
                     [](const AuditReason& reason) { return reason.severity == AuditVerdict::kImpossible; });
}

// The fastest claim of the file about the same work where the opponent ran, in its precision, that can be true.
const Claim* fastest_there(const Claim& opponent, const ClaimsFile& file, ClaimMetric metric,
                           const AuditContext& context) {
  const Claim* best = &opponent;
  for (const Claim& claim : file.claims) {
    const bool same = claim.device == opponent.device && claim.model == opponent.model &&
                      claim.shape == opponent.shape && claim.precision == opponent.precision &&
                      claim.batch == opponent.batch && claim.devices == opponent.devices;
    const ClaimedNumber* number = claim.find(metric);
    const bool faster = same && number != nullptr && times_faster(metric, number->value, best->find(metric)->value) > 1;
    if (faster && !is_impossible(claim, context)) best = &claim;
  }
  return best;
}

std::string rung_text(ClaimRung rung) {
  if (rung == ClaimRung::kNaive) return "a naive loop";
  if (rung == ClaimRung::kCompiler) return "a naive loop with the compiler's optimisation";
  return "";
}

// Of a product: the least time that its device's peak and memory allow, over its own. 1 where that can't be said, and
// where it is too short to tell.
double reached_share(const Claim& claim, const AuditContext& context) {
  const ClaimedNumber* latency = claim.find(ClaimMetric::kLatency);
  if (claim.shape.empty() || latency == nullptr) return 1;
  const ResolvedClaim resolved = resolve_claim(claim, context);
  const SampleWork work = sample_work(resolved);
  if (resolved.device == nullptr || std::isnan(work.flops)) return 1;
  const ClaimPeak peak = dense_peak(*resolved.device, resolved.precision);
  const double compute_s = work.flops * resolved.batch() / (peak.flops * resolved.devices);
  const double memory_s = work.bytes * resolved.batch() / resolved.memory_bytes_per_s();
  const double least_s = memory_s > compute_s ? memory_s : compute_s;
  return least_s > kShortestSeconds ? least_s / latency->value : 1;
}

void check_strength(const ClaimedSpeedup& speedup, const Claim& claim, const Opponent& opponent, const ClaimsFile& file,
                    const AuditContext& context, ClaimAudit& audit) {
  std::vector<std::string> weak;
  AuditReason reason;
  const bool own_is_better = claim.rung == ClaimRung::kUnstated || claim.rung > opponent.rung;
  if (own_is_better && !rung_text(opponent.rung).empty()) weak.push_back("it is " + rung_text(opponent.rung));
  if (opponent.threads == std::optional<int64_t>(1) && claim.threads != std::optional<int64_t>(1)) {
    weak.emplace_back("it ran on one thread");
  }
  if (opponent.claim != nullptr && opponent.number != nullptr && !claim.numbers.empty()) {
    const ClaimMetric metric = claim.numbers.front().metric;
    const Claim* best = fastest_there(*opponent.claim, file, metric, context);
    const double factor = times_faster(metric, best->find(metric)->value, opponent.number->value);
    if (factor >= kFasterOpponent && best->id != claim.id) {
      const double fair = times_faster(metric, claim.numbers.front().value, best->find(metric)->value);
      weak.push_back(fmt::format("'{}' does the same there {} times as fast, over which it is {}x", best->id,
                                 times_text(factor), times_text(fair)));
      reason.numbers = {{"claimed_ratio", speedup.ratio.value}, {"fair_ratio", fair}};
    }
    const double share = metric == ClaimMetric::kLatency && weak.empty() ? reached_share(*opponent.claim, context) : 1;
    if (share < kWeakShare) {
      weak.push_back(fmt::format("it reaches {:.2g}% of what its device's data sheet allows", 100 * share));
    }
  }
  if (weak.empty()) return;
  reason.code = "weak-baseline";
  reason.severity = AuditVerdict::kDoubtful;
  reason.text = fmt::format("{} is over {}, a weak opponent: {}", speedup.ratio.text, opponent.name, join(weak, "; "));
  reason.mend = "a speed-up over the best known on the same hardware, or each one's share of its device's peak";
  audit.add(std::move(reason));
}

void check_likeness(const ClaimedSpeedup& speedup, const Claim& claim, const Opponent& opponent, ClaimAudit& audit) {
  if (!claim.precision.empty() && !opponent.precision.empty() &&
      lower_case(claim.precision) != lower_case(opponent.precision)) {
    audit.add({"baseline-precision",
               AuditVerdict::kDoubtful,
               fmt::format("{} compares {} with {} of {}: part of it is the precision", speedup.ratio.text,
                           claim.precision, opponent.precision, opponent.name),
               "a speed-up in one precision, and the accuracy of both",
               {}});
  }
  if (opponent.claim == nullptr) return;
  if (claim.batch && opponent.claim->batch && *claim.batch != *opponent.claim->batch) {
    audit.add({"baseline-differs",
               AuditVerdict::kDoubtful,
               fmt::format("{} compares batch {} with batch {} of {}", speedup.ratio.text, *claim.batch,
                           *opponent.claim->batch, opponent.name),
               "a speed-up at one batch",
               {}});
  }
  if (claim.devices.value_or(1) != opponent.claim->devices.value_or(1)) {
    audit.add({"baseline-differs",
               AuditVerdict::kDoubtful,
               fmt::format("{} compares {} devices with {} of {}", speedup.ratio.text, claim.devices.value_or(1),
                           opponent.claim->devices.value_or(1), opponent.name),
               "a speed-up per device",
               {}});
  }
}

}  // namespace

void check_speedups(const ResolvedClaim& resolved, const ClaimsFile& file, const AuditContext& context,
                    ClaimAudit& audit) {
  const Claim& claim = *resolved.claim;
  const ClaimedNumber* own = claim.numbers.empty() ? nullptr : &claim.numbers.front();
  for (const ClaimedSpeedup& speedup : claim.speedups) {
    const Opponent opponent = opponent_of(speedup, file, own == nullptr ? ClaimMetric::kLatency : own->metric);
    if (own != nullptr && opponent.number != nullptr) {
      check_arithmetic(speedup, *own, opponent, audit);
    } else {
      audit.not_made.push_back(
          fmt::format("whether {} follows: {}", speedup.ratio.text,
                      own == nullptr ? "no time of its own is stated" : "its opponent's time is not stated"));
    }
    const bool nothing_known = speedup.over.claim.empty() && speedup.over.rung == ClaimRung::kUnstated &&
                               speedup.over.device.empty() && !speedup.over.number;
    if (nothing_known) {
      audit.add({"baseline-unstated",
                 AuditVerdict::kIncomplete,
                 fmt::format("{}, and over what is not stated", speedup.ratio.text),
                 "the opponent: device, threads, precision, implementation and its own time",
                 {}});
    }
    check_strength(speedup, claim, opponent, file, context, audit);
    check_likeness(speedup, claim, opponent, audit);
  }
}

}  // namespace perfcast::ai
