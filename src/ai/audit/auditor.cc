#include "ai/audit/auditor.h"

#include <fmt/format.h>

#include <algorithm>

#include "ai/audit/claim_checks.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

// The claim in a line: what is claimed, of what, on what.
std::string line_of(const Claim& claim) {
  std::vector<std::string> numbers;
  for (const ClaimedNumber& number : claim.numbers) numbers.push_back(number.text);
  for (const ClaimedSpeedup& speedup : claim.speedups) numbers.push_back(speedup.ratio.text);
  std::string line = join(numbers, ", ");
  if (!claim.model.empty()) line += ", " + printable(claim.model);
  if (!claim.precision.empty()) line += " " + printable(claim.precision);
  if (!claim.device.empty()) {
    line += claim.devices && *claim.devices > 1 ? fmt::format(" on {} x {}", *claim.devices, printable(claim.device))
                                                : " on " + printable(claim.device);
  }
  return line;
}

}  // namespace

std::vector<ClaimAudit> audit_claims(const ClaimsFile& file, const std::vector<DeviceFacts>& catalogue,
                                     const KnownModels& models) {
  std::vector<DeviceFacts> devices = file.devices;
  devices.insert(devices.end(), catalogue.begin(), catalogue.end());
  const AuditContext context = {&devices, &models};
  std::vector<ClaimAudit> audits;
  audits.reserve(file.claims.size());
  for (const Claim& claim : file.claims) {
    const ResolvedClaim resolved = resolve_claim(claim, context);
    ClaimAudit audit;
    audit.id = claim.id;
    audit.what = line_of(claim);
    check_bounds(resolved, audit);
    check_consistency(resolved, audit);
    check_speedups(resolved, file, context, audit);
    check_disclosure(resolved, audit);
    std::stable_sort(audit.reasons.begin(), audit.reasons.end(),
                     [](const AuditReason& a, const AuditReason& b) { return a.severity > b.severity; });
    if (!audit.reasons.empty()) audit.verdict = audit.reasons.front().severity;
    audits.push_back(std::move(audit));
  }
  return audits;
}

}  // namespace perfcast::ai
