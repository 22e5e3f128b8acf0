#pragma once
// perfcast adapt --here --slurm: the same command on a node of a partition.

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace perfcast::cli {

struct AdaptSlurmOptions {
  std::string partition;             // empty: this machine
  std::vector<std::string> options;  // of srun
  bool shared = false;               // other jobs may run on the node meanwhile
};

// What `perfcast adapt --here WORDS` prints there. The node sees this program, the bundle and the folder of -o at the
// same paths. Errors: "bad-usage" at --slurm, those of answer_of_node(), "not-shared" where the bundle isn't seen here.
Result<std::string> adapt_on_slurm(const AdaptSlurmOptions& slurm, const std::vector<std::string>& words,
                                   const CommonOptions& common);

}  // namespace perfcast::cli
