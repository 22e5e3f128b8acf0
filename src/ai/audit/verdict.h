#pragma once
// What an audit says of a claim.

#include <string>
#include <utility>
#include <vector>

namespace perfcast::ai {

enum class AuditVerdict {
  kPossible,    // every check that could be made holds, and nothing that is needed is missing
  kIncomplete,  // nothing speaks against it, but it can't be judged, or not be repeated, from what was stated
  kDoubtful,    // as stated it misleads, or it takes something that it doesn't say
  kImpossible,  // as stated it contradicts arithmetic, the device's data sheet or itself
};

// One finding. `code` is stable and machine-readable; docs/audit.md lists all.
struct AuditReason {
  std::string code;
  AuditVerdict severity = AuditVerdict::kIncomplete;
  std::string text;                                     // what was found, with the numbers that it follows from
  std::string mend;                                     // what would make the claim one that can be believed
  std::vector<std::pair<std::string, double>> numbers;  // each with its unit in the name
};

struct ClaimAudit {
  std::string id, what;  // what: the claim in a line
  AuditVerdict verdict = AuditVerdict::kPossible;
  std::vector<AuditReason> reasons;   // the worst first
  std::vector<std::string> made;      // checks that were made and hold, with their numbers
  std::vector<std::string> not_made;  // checks that could not be made, and why
  std::vector<std::string> unused;    // stated numbers that no check used
  bool bound_checked = false;         // held against a device's peak or bandwidth
  double bound_share = 0;             // the largest share of such a bound that it needs

  void add(AuditReason reason) { reasons.push_back(std::move(reason)); }
};

constexpr const char* name_of(AuditVerdict verdict) {
  constexpr const char* kNames[] = {"possible", "incomplete", "doubtful", "impossible"};
  return kNames[static_cast<int>(verdict)];
}

}  // namespace perfcast::ai
