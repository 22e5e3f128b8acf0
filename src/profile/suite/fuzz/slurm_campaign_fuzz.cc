// Any bytes as what sbatch, squeue, sacct and a task say: no crash; ids are digits, times above 0.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/suite/slurm_campaign.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto job = parse_job_id(text);
  if (job && (job->empty() || job->find_first_not_of("0123456789") != std::string::npos)) std::abort();
  for (const auto& [task, name] : parse_queue(text)) {
    if (task.find_first_not_of("0123456789_") != std::string::npos) std::abort();
  }
  if (parse_accounts(text, "a").find_first_not_of("0123456789") != std::string::npos) std::abort();
  const auto outcome = parse_task_result(text, "input");
  if (outcome && outcome->time_per_unit_s && !(*outcome->time_per_unit_s > 0)) std::abort();
  return 0;
}
