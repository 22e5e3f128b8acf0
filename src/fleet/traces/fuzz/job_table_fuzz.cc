// Any bytes as a table of jobs: no crash; what is accepted is a workload, and its own text reads back to the same text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fleet/traces/job_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::fleet;
  const auto jobs = parse_job_table({reinterpret_cast<const char*>(data), size}, "input");
  if (!jobs) return 0;
  if (!check_workload(*jobs)) std::abort();
  const std::string text = job_table_text(*jobs);
  const auto back = parse_job_table(text, "again");
  if (!back || !back->notes.empty() || job_table_text(*back) != text) std::abort();
  return 0;
}
