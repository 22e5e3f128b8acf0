// Any bytes as a trace (the first says with which options): no crash; what is accepted is a workload, and its own text
// reads back as the same jobs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fleet/traces/swf_reader.h"
#include "fleet/traces/swf_synthetic.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::fleet;
  if (size < 1) return 0;
  SwfOptions options;
  options.kill_at_limit = (data[0] & 1) != 0;
  options.keep_failed = (data[0] & 2) == 0;
  options.keep_cancelled = (data[0] & 4) != 0;
  options.keep_parts = (data[0] & 8) != 0;
  options.drop_too_large = (data[0] & 16) != 0;
  const auto trace = parse_swf({reinterpret_cast<const char*>(data) + 1, size - 1}, "input", options);
  if (!trace) return 0;
  const Workload& workload = trace->workload;
  const Cluster cluster = swf_cluster(*trace);
  if (!check_workload(workload) || cluster.nodes() < 1) std::abort();
  const auto text = swf_text(workload, cluster.nodes());
  if (!text) return 0;  // a job of number -1
  SwfOptions whole;
  whole.kill_at_limit = options.kill_at_limit;
  const auto back = parse_swf(*text, "again", whole);
  if (!back || back->workload.time_s != workload.time_s) std::abort();
  for (size_t i = 0; i < workload.size(); ++i) {
    const JobRequest& a = workload.jobs[i];
    const JobRequest& b = back->workload.jobs[i];
    if (a.id != b.id || a.arrival_s != b.arrival_s || a.cores != b.cores) std::abort();
  }
  return 0;
}
