#pragma once
// Claims to verdicts: what a claim implies, held against the device's data sheet, against arithmetic and against
// itself.

#include <vector>

#include "ai/audit/claim.h"
#include "ai/audit/known_models.h"
#include "ai/audit/verdict.h"
#include "base/result.h"

namespace perfcast::ai {

// Verdicts in the order of the claims. `catalogue`: the devices that are known besides those of the file, which come
// first. No I/O, no clock.
std::vector<ClaimAudit> audit_claims(const ClaimsFile& file, const std::vector<DeviceFacts>& catalogue,
                                     const KnownModels& models);

}  // namespace perfcast::ai
