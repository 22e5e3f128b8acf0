// Any bytes as a table of results: no crash; what is accepted is audited.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/audit/audit_report.h"
#include "ai/audit/auditor.h"
#include "ai/audit/mlperf_results.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto results = parse_published_results({reinterpret_cast<const char*>(data), size}, "input", "closed");
  if (!results) return 0;
  const auto audits = audit_claims(results->claims, {}, {});
  if (audits.size() != results->claims.claims.size()) std::abort();
  (void)results_text(*results, audits);
  return 0;
}
