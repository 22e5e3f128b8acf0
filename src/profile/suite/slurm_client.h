#pragma once
// What is asked of Slurm, through its own commands: sbatch, squeue and sacct of a campaign, srun of one command.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

struct ArrayRequest {
  std::string script, partition, name;
  std::string output;  // of the tasks: a path in which sbatch replaces %A and %a
  size_t tasks = 0;    // numbered from 1
  bool exclusive = true;
  std::vector<std::string> options;  // further ones for sbatch
};

struct SlurmClient {
  // The new array's job id. Errors: "slurm-missing", "slurm-failed" with what sbatch said.
  std::function<Result<std::string>(const ArrayRequest&)> submit;
  // "123_4" -> the job's name, for each of the user's tasks that waits or runs. Errors as submit().
  std::function<Result<std::map<std::string, std::string>>()> queued;
  // The job id of the user's latest array of that name, from Slurm's accounting, whether it has ended or not; empty
  // where there is none. Errors as submit(), also where the cluster keeps no accounts.
  std::function<Result<std::string>(const std::string& name)> accounted;
};

SlurmClient real_slurm_client();

// A name that sbatch and srun can't take for anything else.
bool is_partition_name(const std::string& name);

struct NodeRequest {
  std::string partition, name;
  bool exclusive = true;
  std::vector<std::string> options;  // further ones for srun
};
// What `command` prints on a node of the partition: waits for the node (srun) and for its end. A signal ends both.
// Errors: "slurm-missing"; "slurm-failed" with the end of what srun and the command said.
Result<std::string> answer_of_node(const NodeRequest& request, const std::vector<std::string>& command);

// What sbatch --parsable prints: "123" or "123;cluster". Error "slurm-failed" for anything else.
Result<std::string> parse_job_id(std::string_view text);
// What squeue prints for the format "%i %j", one task per line; lines that begin with no job id are passed over.
std::map<std::string, std::string> parse_queue(std::string_view text);
// Of what sacct prints for the parsable format JobID|JobName the job id of the last array of that name; empty: none.
std::string parse_accounts(std::string_view text, const std::string& name);

}  // namespace perfcast
