#pragma once
// The checks of an audit; each adds what it finds to `audit`, and says what it held or could not be made.

#include "ai/audit/claim.h"
#include "ai/audit/claim_work.h"
#include "ai/audit/verdict.h"

namespace perfcast::ai {

// Rate of products, traffic and capacity against the device's data sheet.
void check_bounds(const ResolvedClaim& resolved, ClaimAudit& audit);

// The claim's numbers against each other: Little's law (requests in flight = rate x latency, the mean of it), latency
// that is the inverse of the throughput, FLOP/s against the time.
void check_consistency(const ResolvedClaim& resolved, ClaimAudit& audit);

// Speed-ups: whether they follow from the times, and what they are over.
void check_speedups(const ResolvedClaim& resolved, const ClaimsFile& file, const AuditContext& context,
                    ClaimAudit& audit);

// Accuracy against the reference, the split that it was taken on, what was not stated.
void check_disclosure(const ResolvedClaim& resolved, ClaimAudit& audit);

}  // namespace perfcast::ai
