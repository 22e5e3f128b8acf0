#include "ai/audit/auditor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

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

// Whether `line` mentions the number: not as the end or the beginning of another.
bool mentions(const std::string& line, const std::string& number) {
  const auto in_number = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.'; };
  for (size_t at = line.find(number); at != std::string::npos; at = line.find(number, at + 1)) {
    const size_t end = at + number.size();
    if ((at == 0 || !in_number(line[at - 1])) && (end == line.size() || !in_number(line[end]))) return true;
  }
  return false;
}

// Every check mentions the numbers that it used.
std::vector<std::string> unused_numbers(const Claim& claim, const ClaimAudit& audit) {
  std::vector<std::string> unused;
  for (const ClaimedNumber& number : claim.numbers) {
    const auto in = [&number](const std::string& line) { return mentions(line, number.text); };
    if (std::any_of(audit.made.begin(), audit.made.end(), in) ||
        std::any_of(audit.not_made.begin(), audit.not_made.end(), in) ||
        std::any_of(audit.reasons.begin(), audit.reasons.end(),
                    [&in](const AuditReason& reason) { return in(reason.text); })) {
      continue;
    }
    std::string why = fmt::format("{} ({}): no check could use it", number.text, name_of(number.metric));
    if (number.metric == ClaimMetric::kFirstToken && !claim.input_tokens)
      why += "; it takes the length of the prompt (input_tokens)";
    unused.push_back(std::move(why));
  }
  return unused;
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
    audit.unused = unused_numbers(claim, audit);
    std::stable_sort(audit.reasons.begin(), audit.reasons.end(),
                     [](const AuditReason& a, const AuditReason& b) { return a.severity > b.severity; });
    if (!audit.reasons.empty()) audit.verdict = audit.reasons.front().severity;
    audits.push_back(std::move(audit));
  }
  return audits;
}

}  // namespace perfcast::ai
