// Any bytes: no crash; counts are above 0, and a program that is told has a name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fleet/slurm/advice.h"
#include "fleet/slurm/job_script.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::fleet;
  const auto job = parse_job_script({reinterpret_cast<const char*>(data), size}, "input");
  if (!job) {
    if (job.error().code.empty() || job.error().where.empty()) std::abort();
    return 0;
  }
  for (const auto& count : {job->tasks, job->cpus_per_task, job->nodes, job->time_limit_s, job->memory_bytes}) {
    if (count && *count <= 0) std::abort();
  }
  if (!(job->cores() >= 1)) std::abort();
  if (job->command.empty() == job->command_unclear.empty()) std::abort();
  const auto key = program_key(*job);
  if (key && !is_plain_name(*key)) std::abort();
  return 0;
}
