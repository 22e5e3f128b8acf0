#include "ai/audit/audit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/json.h"
#include "base/significant.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kTextWidth = 120, kMostListed = 20;

using VerdictCounts = std::array<size_t, 4>;

VerdictCounts counts_of(const std::vector<ClaimAudit>& audits) {
  VerdictCounts counts{};
  for (const ClaimAudit& audit : audits) ++counts[static_cast<size_t>(audit.verdict)];
  return counts;
}

std::string counts_text(const VerdictCounts& counts) {
  std::vector<std::string> parts;
  for (size_t i = counts.size(); i-- > 0;) {
    if (counts[i] > 0) parts.push_back(fmt::format("{} {}", counts[i], name_of(static_cast<AuditVerdict>(i))));
  }
  return join(parts, ", ");
}

// "above-peak-flops, missing-fields".
std::string codes_of(const ClaimAudit& audit) {
  std::vector<std::string> codes;
  for (const AuditReason& reason : audit.reasons) {
    if (std::find(codes.begin(), codes.end(), reason.code) == codes.end()) codes.push_back(reason.code);
  }
  return join(codes, ", ");
}

// How near the claim is to what the device can do: what a reader of a claim that may be true asks next.
std::string nearness_text(const ClaimAudit& audit) {
  if (audit.verdict == AuditVerdict::kImpossible) return "";
  if (!audit.bound_checked) return "; no limit of a device could be checked";
  if (!(audit.bound_share > 0) || audit.bound_share > 1) return "";
  const bool assumed =
      std::ranges::any_of(audit.reasons, [](const AuditReason& reason) { return reason.code.ends_with("-unstated"); });
  if (assumed) return "";  // the reason says what which assumption allows
  return fmt::format("; it takes {}% of the nearest limit of the device", significant(100 * audit.bound_share, 2));
}

std::string reasons_text(const ClaimAudit& audit, bool details) {
  std::string text = fmt::format("\n{}: {}{}\n", audit.id, name_of(audit.verdict), nearness_text(audit));
  for (const AuditReason& reason : audit.reasons) {
    text += wrapped(fmt::format("{} ({}): {}", reason.code, name_of(reason.severity), reason.text), kTextWidth, "  ",
                    "    ") +
            "\n";
    text += wrapped("mend: " + reason.mend, kTextWidth, "    ", "      ") + "\n";
  }
  const auto list = [&text](const char* what, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) text += wrapped(std::string(what) + line, kTextWidth, "  ", "    ") + "\n";
  };
  if (details) {
    list("holds: ", audit.made);
    list("not checked: ", audit.not_made);
  }
  list("not checked: ", audit.unused);
  return text;
}

Json claim_json(const ClaimAudit& audit) {
  Json reasons = Json::array();
  for (const AuditReason& reason : audit.reasons) {
    Json entry = {
        {"code", reason.code}, {"severity", name_of(reason.severity)}, {"text", reason.text}, {"mend", reason.mend}};
    for (const auto& [name, value] : reason.numbers) entry["numbers"][name] = value;
    reasons.push_back(std::move(entry));
  }
  std::vector<std::string> not_made = audit.not_made;
  not_made.insert(not_made.end(), audit.unused.begin(), audit.unused.end());
  return {{"id", audit.id},      {"verdict", name_of(audit.verdict)},
          {"claim", audit.what}, {"reasons", std::move(reasons)},
          {"held", audit.made},  {"not_made", std::move(not_made)}};
}

Json counts_json(const std::vector<ClaimAudit>& audits) {
  const VerdictCounts counts = counts_of(audits);
  Json json = Json::object();
  for (size_t i = 0; i < counts.size(); ++i) json[name_of(static_cast<AuditVerdict>(i))] = counts[i];
  return json;
}

// Among those whose verdict is at least doubtful, how many have each reason.
std::map<std::string, size_t> bad_codes(const std::vector<ClaimAudit>& audits) {
  std::map<std::string, size_t> codes;
  for (const ClaimAudit& audit : audits) {
    for (const AuditReason& reason : audit.reasons) {
      if (reason.severity >= AuditVerdict::kDoubtful) ++codes[reason.code];
    }
  }
  return codes;
}

size_t bound_count(const std::vector<ClaimAudit>& audits) {
  return static_cast<size_t>(
      std::count_if(audits.begin(), audits.end(), [](const ClaimAudit& audit) { return audit.bound_checked; }));
}

// Sorted.
std::vector<double> bound_shares(const std::vector<ClaimAudit>& audits) {
  std::vector<double> shares;
  for (const ClaimAudit& audit : audits) {
    if (audit.bound_share > 0) shares.push_back(audit.bound_share);
  }
  std::sort(shares.begin(), shares.end());
  return shares;
}

double share(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string audit_text(const std::vector<ClaimAudit>& audits, bool details) {
  TextTable table;
  for (const char* title : {"claim", "what", "verdict", "reasons"}) table.add_column(title, TextTable::Align::kLeft);
  for (const ClaimAudit& audit : audits) table.add_row({audit.id, audit.what, name_of(audit.verdict), codes_of(audit)});
  std::string text = fmt::format("{} {}: {}\n\n", audits.size(), audits.size() == 1 ? "claim" : "claims",
                                 counts_text(counts_of(audits))) +
                     table.to_text();
  for (const ClaimAudit& audit : audits) {
    if (details || !audit.reasons.empty() || !audit.unused.empty()) text += reasons_text(audit, details);
  }
  return text;
}

Json audit_json(const std::vector<ClaimAudit>& audits, const std::string& source) {
  Json claims = Json::array();
  for (const ClaimAudit& audit : audits) claims.push_back(claim_json(audit));
  return {{"schema", "perfcast.audit/1"},
          {"source", source},
          {"counts", counts_json(audits)},
          {"claims", std::move(claims)}};
}

std::string results_text(const PublishedResults& results, const std::vector<ClaimAudit>& audits) {
  const VerdictCounts counts = counts_of(audits);
  const size_t impossible = counts[static_cast<size_t>(AuditVerdict::kImpossible)];
  const size_t doubtful = counts[static_cast<size_t>(AuditVerdict::kDoubtful)];
  const size_t bounded = bound_count(audits);
  std::string text =
      fmt::format("{} results of the division {}: {}\n", audits.size(), results.division, counts_text(counts));
  text += fmt::format(
      "of {} with a device and a model whose bounds are known: {:.2f}% impossible, {:.2f}% doubtful; of all: {:.2f}%, "
      "{:.2f}%\n",
      bounded, 100 * share(impossible, bounded), 100 * share(doubtful, bounded), 100 * share(impossible, audits.size()),
      100 * share(doubtful, audits.size()));
  if (const auto shares = bound_shares(audits); !shares.empty()) {
    text += fmt::format("they need {}% to {}% of the least bound, half of them {}% or more\n",
                        significant(100 * shares.front(), 2), significant(100 * shares.back(), 3),
                        significant(100 * shares[shares.size() / 2], 3));
  }
  for (const auto& [code, count] : bad_codes(audits)) text += fmt::format("  {}: {}\n", code, count);
  size_t listed = 0;
  for (const ClaimAudit& audit : audits) {
    if (audit.verdict < AuditVerdict::kDoubtful) continue;
    if (++listed > kMostListed) continue;
    ClaimAudit bad = audit;
    bad.unused.clear();
    bad.reasons.erase(
        std::remove_if(bad.reasons.begin(), bad.reasons.end(),
                       [](const AuditReason& reason) { return reason.severity < AuditVerdict::kDoubtful; }),
        bad.reasons.end());
    text += reasons_text(bad, false);
  }
  if (listed > kMostListed) text += fmt::format("\n... and {} more (--json has all)\n", listed - kMostListed);
  return text;
}

Json results_json(const PublishedResults& results, const std::vector<ClaimAudit>& audits, const std::string& source) {
  Json claims = Json::array();
  for (const ClaimAudit& audit : audits) {
    if (audit.verdict >= AuditVerdict::kDoubtful) claims.push_back(claim_json(audit));
  }
  const auto shares = bound_shares(audits);
  Json json = {{"schema", "perfcast.audit/1"},
               {"source", source},
               {"division", results.division},
               {"results", audits.size()},
               {"bounded_results", bound_count(audits)}};
  if (!shares.empty()) {
    json["median_bound_share"] = shares[shares.size() / 2];
    json["largest_bound_share"] = shares.back();
  }
  json["counts"] = counts_json(audits);
  json["claims"] = std::move(claims);
  return json;
}

}  // namespace perfcast::ai
