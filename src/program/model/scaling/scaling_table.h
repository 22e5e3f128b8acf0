#pragma once
// What scaling is learned from: programs that were timed alone and as many copies at once on the same servers.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "program/corpus/corpus.h"
#include "program/model/scaling/machine_facts.h"
#include "program/model/scaling/program_load.h"

namespace perfcast::program {

struct ScalingTable {
  std::vector<Program> programs;
  std::vector<std::string> groups;  // of each: "user", "light system use", "compress", "decompress"
  std::vector<Profile> profiles;
  std::vector<ProgramLoad> loads;
  std::vector<MachineFacts> machines;  // those with runs
  std::vector<MachineFacts> all_machines;
  // [programs x machines], NaN where not measured: log seconds per unit of work of one copy alone on this server; the
  // same as the median of the other servers of its CPU model (its own where it is the only one); of a copy when all
  // ran; how many that were.
  Eigen::MatrixXd log_alone, log_alone_usual, log_together, copies;

  // Less the programs of a family; machines stay.
  ScalingTable without_family(const std::string& family) const;
};

inline constexpr const char* kScalingGroups[] = {"user", "light system use", "compress", "decompress"};

// Valid programs with a profile of groups that scaling is promised for: user space, compressors, and what of the
// system's stressors neither lives in the kernel nor shares memory or state between its workers. "empty-corpus" where
// no server ran two programs of them both ways.
Result<ScalingTable> make_scaling_table(const Corpus& corpus);

}  // namespace perfcast::program
