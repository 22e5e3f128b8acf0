#pragma once
// An audit for people and machines.

#include <string>
#include <vector>

#include "ai/audit/mlperf_results.h"
#include "ai/audit/verdict.h"
#include "base/json_fwd.h"

namespace perfcast::ai {

// A table of verdicts, then each claim's reasons with what would mend it; with `details` also the checks that hold and
// those that could not be made.
std::string audit_text(const std::vector<ClaimAudit>& audits, bool details);

// Schema perfcast.audit/1: claims [{id, verdict, claim, reasons [{code, severity, text, mend, numbers}], held,
// not_made}] and counts of each verdict.
Json audit_json(const std::vector<ClaimAudit>& audits, const std::string& source);

// A published set: how many of it get each verdict, which reasons, and every one that is doubtful or impossible.
std::string results_text(const PublishedResults& results, const std::vector<ClaimAudit>& audits);
Json results_json(const PublishedResults& results, const std::vector<ClaimAudit>& audits, const std::string& source);

}  // namespace perfcast::ai
