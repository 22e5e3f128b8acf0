#pragma once
// What a simple command of a shell script runs, behind its assignments, launchers (srun, mpirun, ibrun ...), containers
// (apptainer exec ...) and wrappers (numactl, taskset, env ...).

#include <string>
#include <vector>

namespace perfcast::fleet {

struct LaunchedProgram {
  std::vector<std::string> words;  // the program and its arguments; empty where there is none
  bool launched = false;           // by a launcher of parallel programs
  bool several = false;            // a launcher starts further programs, behind a ":"
};

LaunchedProgram program_of(const std::vector<std::string>& words);

}  // namespace perfcast::fleet
