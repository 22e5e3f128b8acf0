#pragma once
// What became of a suite's programs, as people and machines read it.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "profile/suite/suite.h"
#include "profile/suite/suite_runner.h"

namespace perfcast::cli {

struct CollectedProgram {
  SuiteOutcome outcome;
  std::string partition;  // of Slurm; empty for this machine
};

std::vector<CollectedProgram> of_this_machine(const std::vector<SuiteOutcome>& outcomes);

std::string collected_as_text(const Suite& suite, const std::vector<CollectedProgram>& programs);
Json collected_as_json(const Suite& suite, const std::vector<CollectedProgram>& programs);  // perfcast.collection/1

}  // namespace perfcast::cli
