// Any bytes as a tool's report: no crash; what is accepted is work that was done in time that passed.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/suite/suite_tools.h"

namespace {

void require_sense(const perfcast::Result<perfcast::WorkReport>& report) {
  if (!report) return;
  if (!(report->work_units > 0) || !std::isfinite(report->work_units)) std::abort();
  if (!(report->user_s >= 0) || !(report->system_s >= 0) || !std::isfinite(report->cpu_s())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  require_sense(parse_stress_ng_metrics(text, "fork", "input"));
  require_sense(parse_harness_report(text, "input"));
  parse_stress_ng_version(text);
  parse_stress_ng_stressors(text);
  return 0;
}
