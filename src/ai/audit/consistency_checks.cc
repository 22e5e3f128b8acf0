// A claim's numbers against each other. Requests in flight are rate x mean latency (Little, 1961), whatever the system.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "ai/audit/claim_checks.h"
#include "base/significant.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kSame = 0.03;   // numbers that are meant to be equal
constexpr double kSlack = 1.05;  // of numbers that were measured in runs of their own
constexpr double kSurely = 1.2;
constexpr double kTail = 3;    // a percentile above its mean
constexpr double kIdle = 0.5;  // of a batch in flight: the rest of the time nothing is
constexpr const char* kInverse = "inverse-throughput";

// How far rate x latency may be above what is in flight.
double most_of(const Claim& claim) { return claim.statistic == LatencyStatistic::kPercentile ? kTail : kSlack; }

double rounding_of(const ClaimedNumber& number) { return number.half_unit / number.value; }

void check_definition(const Claim& claim, ClaimAudit& audit) {
  if (claim.latency_definition != LatencyDefinition::kInverseThroughput) return;
  const ClaimedNumber* latency = claim.find(ClaimMetric::kLatency);
  audit.add({kInverse,
             AuditVerdict::kDoubtful,
             fmt::format("the latency{} is the inverse of a throughput: no request was answered in it",
                         latency == nullptr ? "" : " of " + latency->text),
             "the time from a request's arrival to its answer, with the batch and the percentile",
             {}});
}

// Requests a second, of tokens of a known number each. Some count a prompt's tokens in: then there are fewer requests.
std::optional<ClaimedNumber> requests_by_tokens(const Claim& claim) {
  const ClaimedNumber* tokens = claim.find(ClaimMetric::kTokensPerS);
  if (tokens == nullptr || !claim.output_tokens || claim.phase != ClaimPhase::kDecode ||
      claim.scope == ClaimScope::kPerUser) {
    return std::nullopt;
  }
  ClaimedNumber rate = *tokens;
  const auto each = static_cast<double>(*claim.output_tokens);
  rate.value /= each;
  rate.half_unit /= each;
  rate.text = fmt::format("{} in answers of {}", tokens->text, *claim.output_tokens);
  return rate;
}

// Little's law of requests whose rate follows from tokens.
void check_answers(const ResolvedClaim& resolved, const ClaimedNumber& latency, ClaimAudit& audit) {
  const Claim& claim = *resolved.claim;
  const auto rate = requests_by_tokens(claim);
  if (!rate || !claim.concurrency) return;
  const auto busy = static_cast<double>(*claim.concurrency);
  const double in_flight = rate->value * latency.value, fewest = rate->least() * latency.least();
  const std::string said = fmt::format("{} x {} are {} requests in flight; {:g} stated", rate->text, latency.text,
                                       significant(in_flight, 4), busy);
  if (fewest <= most_of(claim) * busy) {
    audit.made.push_back(said);
    return;
  }
  const double prompt = claim.input_tokens ? static_cast<double>(*claim.input_tokens) : kUnknown;
  const auto answer = static_cast<double>(*claim.output_tokens);
  const double counted_in = claim.phase_stated ? 1 : answer / (answer + prompt);
  const bool is_mean = claim.statistic == LatencyStatistic::kMean;
  const bool sure = is_mean && fewest * counted_in > kSurely * busy;
  std::vector<std::string> ways_out;
  if (!claim.phase_stated) ways_out.emplace_back("the rate counts the tokens of prompts");
  if (!is_mean) ways_out.emplace_back("the latency is no mean");
  audit.add({"in-flight-mismatch",
             sure ? AuditVerdict::kImpossible : AuditVerdict::kDoubtful,
             said + (sure || ways_out.empty() ? "" : ", unless " + join(ways_out, ", or ")),
             "state how many requests are in flight (concurrency), which tokens the rate counts, and the latency's "
             "percentile",
             {{"in_flight_count", in_flight}, {"served_count", busy}}});
}

void check_requests(const ResolvedClaim& resolved, ClaimAudit& audit) {
  const Claim& claim = *resolved.claim;
  const ClaimedNumber* rate = claim.find(ClaimMetric::kSamplesPerS);
  const ClaimedNumber* latency = claim.find(ClaimMetric::kLatency);
  if (latency == nullptr) return;
  if (rate == nullptr) return check_answers(resolved, *latency, audit);
  const double in_flight = rate->value * latency->value;
  const double fewest = rate->least() * latency->least();
  const std::string product =
      fmt::format("{} x {} are {} requests in flight", rate->text, latency->text, significant(in_flight, 4));
  // What must be in flight for all to be busy, if the rate is what the system can do.
  const double busy = claim.concurrency ? static_cast<double>(*claim.concurrency) : resolved.batch() * resolved.devices;
  const bool is_mean = claim.statistic == LatencyStatistic::kMean;
  if (busy > 1 && std::abs(in_flight - 1) <= kSame) {
    audit.add({kInverse,
               AuditVerdict::kDoubtful,
               fmt::format("{}: the latency is 1 / throughput, although {:g} are served at once", product, busy),
               "the time from a request's arrival to its answer",
               {{"in_flight_count", in_flight}, {"served_count", busy}}});
  } else if (claim.concurrency && fewest > most_of(claim) * busy) {
    const bool sure = is_mean && fewest > kSurely * busy;
    audit.add({"in-flight-mismatch",
               sure ? AuditVerdict::kImpossible : AuditVerdict::kDoubtful,
               fmt::format("{}, where {:g} {} stated", product, busy, busy == 1 ? "is" : "are"),
               "state how many requests are in flight (concurrency), pipelining and the latency's percentile",
               {{"in_flight_count", in_flight}, {"served_count", busy}}});
  } else if (claim.batch && rate->most() * latency->most() < kIdle * resolved.batch()) {
    audit.add({"in-flight-mismatch",
               AuditVerdict::kDoubtful,
               fmt::format("{}, less than half a batch of {:g}: rate and latency were not measured in one run", product,
                           resolved.batch()),
               "rate and latency of the same run and batch",
               {{"in_flight_count", in_flight}, {"served_count", busy}}});
  } else if (claim.concurrency) {
    audit.made.push_back(fmt::format("{}; {:g} stated", product, busy));
  } else {
    audit.not_made.push_back(product + ": queued, pipelined or in batches; concurrency is not stated");
  }
}

void check_streams(const ResolvedClaim& resolved, ClaimAudit& audit) {
  const Claim& claim = *resolved.claim;
  const ClaimedNumber* rate = claim.find(ClaimMetric::kTokensPerS);
  const ClaimedNumber* time = claim.find(ClaimMetric::kTokenTime);
  // The tokens of a prompt, or of training, don't come one after the other.
  if (rate == nullptr || time == nullptr || claim.phase != ClaimPhase::kDecode) return;
  const double streams = claim.scope == ClaimScope::kPerUser ? 1 : resolved.streams().value_or(kUnknown);
  const double in_flight = rate->value * time->value;
  const double fewest = rate->least() * time->least();
  const std::string product =
      fmt::format("{} x {} a token are {} sequences at once", rate->text, time->text, significant(in_flight, 4));
  if (std::isnan(streams)) {
    audit.not_made.push_back(product + "; how many are served is not stated");
  } else if (streams > 1 && std::abs(in_flight - 1) <= kSame) {
    audit.add({kInverse,
               AuditVerdict::kDoubtful,
               fmt::format("{}: the time of a token is 1 / throughput, although {:g} sequences are served at once",
                           product, streams),
               "the time between two tokens of one sequence",
               {{"in_flight_count", in_flight}, {"served_count", streams}}});
  } else if (fewest > most_of(claim) * streams || rate->most() * time->most() < kIdle * streams) {
    const bool sure = claim.statistic == LatencyStatistic::kMean && fewest > kSurely * streams;
    audit.add({"in-flight-mismatch",
               sure ? AuditVerdict::kImpossible : AuditVerdict::kDoubtful,
               fmt::format("{}, where {:g} {} stated", product, streams, streams == 1 ? "is" : "are"),
               "rate and time of the same run, and how many sequences it served",
               {{"in_flight_count", in_flight}, {"served_count", streams}}});
  } else {
    audit.made.push_back(fmt::format("{}; {:g} stated", product, streams));
  }
}

void check_rate_of_work(const ResolvedClaim& resolved, ClaimAudit& audit) {
  const Claim& claim = *resolved.claim;
  const ClaimedNumber* flops = claim.find(ClaimMetric::kFlops);
  const ClaimedNumber* latency = claim.find(ClaimMetric::kLatency);
  if (flops == nullptr || latency == nullptr || !resolved.is_product) return;
  const SampleWork work = sample_work(resolved);
  if (std::isnan(work.flops)) return;
  const double follows = work.flops * resolved.batch() / latency->value;
  const double ratio = std::max(flops->value / follows, follows / flops->value);
  const std::string said = fmt::format("{} operations in {} are {}, and {} are claimed", work.basis, latency->text,
                                       claim_text(ClaimMetric::kFlops, follows), flops->text);
  const double rounding = rounding_of(*flops) + rounding_of(*latency);
  if (ratio <= 1 + std::max(kSame, 2 * rounding)) {
    audit.made.push_back(said);
    return;
  }
  audit.add({"self-contradiction",
             ratio > kSurely ? AuditVerdict::kImpossible : AuditVerdict::kDoubtful,
             said,
             "a multiply-add counts two; say what else was counted, or correct one of both",
             {{"ratio", ratio}}});
}

void check_utilisation(const ResolvedClaim& resolved, ClaimAudit& audit) {
  const Claim& claim = *resolved.claim;
  const ClaimedNumber* share = claim.find(ClaimMetric::kUtilisation);
  const ClaimedNumber* flops = claim.find(ClaimMetric::kFlops);
  if (share == nullptr || flops == nullptr || resolved.device == nullptr) return;
  const ClaimPeak peak = dense_peak(*resolved.device, resolved.precision);
  if (std::isnan(peak.flops) || !resolved.precision) return;
  const double follows = flops->value / (peak.flops * resolved.devices);
  const double ratio = std::max(share->value / follows, follows / share->value);
  const std::string said = fmt::format("{} are {}% of the dense peak, and {} is claimed", flops->text,
                                       significant(100 * follows, 3), share->text);
  if (ratio <= std::max(kSlack, 1 + 2 * (rounding_of(*flops) + rounding_of(*share)))) {
    audit.made.push_back(said);
  } else {
    audit.add({"self-contradiction",
               ratio > kSurely ? AuditVerdict::kImpossible : AuditVerdict::kDoubtful,
               said,
               "the peak that the share is of",
               {{"ratio", ratio}}});
  }
}

}  // namespace

void check_consistency(const ResolvedClaim& resolved, ClaimAudit& audit) {
  check_definition(*resolved.claim, audit);
  check_requests(resolved, audit);
  check_streams(resolved, audit);
  check_rate_of_work(resolved, audit);
  check_utilisation(resolved, audit);
}

}  // namespace perfcast::ai
