// Any bytes as claims: no crash, neither in reading nor in the audit; every claim gets a verdict that its reasons bear.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/audit/audit_report.h"
#include "ai/audit/auditor.h"
#include "ai/audit/claims_reader.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto file = parse_claims({reinterpret_cast<const char*>(data), size}, "input");
  if (!file) return 0;
  DeviceFacts device;
  device.name = "h100";
  device.generation = "hopper";
  device.memory_bytes = 8e10;
  device.memory_bytes_per_s = 3.35e12;
  device.l2_bytes = 5e7;
  device.peak_flops[static_cast<size_t>(MathMode::kFp32)] = 6.7e13;
  device.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 9.9e14;
  const auto audits = audit_claims(*file, {device}, {});
  if (audits.size() != file->claims.size()) std::abort();
  for (const ClaimAudit& audit : audits) {
    AuditVerdict worst = AuditVerdict::kPossible;
    for (const AuditReason& reason : audit.reasons) worst = std::max(worst, reason.severity);
    if (worst != audit.verdict) std::abort();
  }
  (void)audit_text(audits, true);
  (void)to_text(audit_json(audits, "input"));
  return 0;
}
