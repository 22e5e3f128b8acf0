// Whether a claim says enough to be believed and repeated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/audit/claim_checks.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kUsualShare = 0.99;

void check_accuracy(const ResolvedClaim& resolved, ClaimAudit& audit) {
  const Claim& claim = *resolved.claim;
  if (!claim.accuracy) return;
  const ClaimedAccuracy& accuracy = *claim.accuracy;
  if (accuracy.ratio > 1) {
    audit.add({"accuracy-range",
               AuditVerdict::kImpossible,
               fmt::format("an accuracy of {:.4g}% is above all", 100 * accuracy.ratio),
               "the number, and its unit",
               {{"accuracy_ratio", accuracy.ratio}}});
    return;
  }
  const KnownModel* known = resolved.known;
  const bool same_metric =
      known != nullptr && !std::isnan(known->accuracy_ratio) &&
      (accuracy.metric.empty() || lower_case(accuracy.metric) == lower_case(known->accuracy_metric));
  double reference = accuracy.reference_ratio.value_or(kUnknown);
  if (std::isnan(reference) && same_metric) reference = known->accuracy_ratio;
  if (std::isnan(reference)) {
    audit.not_made.emplace_back("accuracy: no reference is known or stated");
    return;
  }
  const double share =
      accuracy.least_share.value_or(same_metric && !std::isnan(known->least_share) ? known->least_share : kUsualShare);
  const std::string said = fmt::format("accuracy {:.4g}% of a reference of {:.4g}%, of which {:g}% are asked for",
                                       100 * accuracy.ratio, 100 * reference, 100 * share);
  if (accuracy.ratio >= share * reference * (1 - 1e-9)) {
    audit.made.push_back(said);
    return;
  }
  audit.add({"accuracy-below-reference",
             AuditVerdict::kDoubtful,
             said + ": speed was bought with quality",
             "the speed at the reference's accuracy, or another name for the model",
             {{"accuracy_ratio", accuracy.ratio}, {"least_ratio", share * reference}}});
}

void check_split(const Claim& claim, ClaimAudit& audit) {
  const std::string split = lower_case(claim.split);
  if (!split.starts_with("train")) return;
  audit.add(
      {"training-split",
       AuditVerdict::kDoubtful,
       fmt::format("the accuracy is of the split '{}', which the model has seen", printable(claim.split.substr(0, 60))),
       "the accuracy on a split that was kept apart, and how it was made",
       {}});
}

// What a reader needs of this kind of claim, as the keynote's questions ask: language, libraries, accuracy, data set
// and split, the latency's definition.
std::vector<std::string> missing_fields(const ResolvedClaim& resolved) {
  const Claim& claim = *resolved.claim;
  std::vector<std::string> missing;
  const auto need = [&](bool there, const char* field) {
    const bool assumed = std::find(claim.assumed.begin(), claim.assumed.end(), field) != claim.assumed.end();
    if (assumed) {
      missing.push_back(std::string(field) + " (assumed)");
    } else if (!there) {
      missing.emplace_back(field);
    }
  };
  const bool rate = claim.find(ClaimMetric::kSamplesPerS) != nullptr || claim.find(ClaimMetric::kTokensPerS) != nullptr;
  const bool of_hardware = claim.find(ClaimMetric::kFlops) != nullptr || claim.find(ClaimMetric::kBytesPerS) != nullptr;
  const bool of_model = !resolved.is_product && !(of_hardware && claim.model.empty());
  need(!claim.device.empty(), "device");
  if (of_model) need(!claim.model.empty(), "model");
  need(!claim.precision.empty(), "precision");
  if (resolved.is_product) need(!claim.shape.empty(), "shape");
  if (of_model) need(claim.batch || claim.concurrency, "batch");
  if (claim.find(ClaimMetric::kLatency) != nullptr) {
    need(claim.latency_definition != LatencyDefinition::kUnstated, "latency_definition");
  }
  if (of_model && (rate || claim.find(ClaimMetric::kLatency) != nullptr)) {
    need(claim.accuracy.has_value(), "accuracy");
    need(!claim.dataset.empty(), "dataset");
    need(!claim.split.empty(), "split");
  }
  need(!claim.libraries.empty(), "libraries");
  need(!claim.language.empty(), "language");
  for (const std::string& field : claim.assumed) {
    const std::string said = field + " (assumed)";
    if (std::find(missing.begin(), missing.end(), said) == missing.end()) missing.push_back(said);
  }
  return missing;
}

}  // namespace

void check_disclosure(const ResolvedClaim& resolved, ClaimAudit& audit) {
  check_accuracy(resolved, audit);
  check_split(*resolved.claim, audit);
  for (const std::string& unknown : resolved.unknown) {
    const size_t colon = unknown.find(": ");  // "device: no device is named ..."
    const std::string field = unknown.substr(0, colon);
    audit.add({"unknown-" + field,
               AuditVerdict::kIncomplete,
               unknown.substr(colon + 2),
               field == "device" ? "one of the catalogue, or its facts in the claims file or a --device-file"
                                 : "one of those that are known; what needs it was not checked",
               {}});
  }
  const auto missing = missing_fields(resolved);
  if (missing.empty()) return;
  audit.add({"missing-fields", AuditVerdict::kIncomplete, "not stated: " + join(missing, ", "), "state them", {}});
}

}  // namespace perfcast::ai
