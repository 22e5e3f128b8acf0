#pragma once
// The physics of many copies on one server: how much longer a copy takes than alone, as a sum of causes, each a column
// that is 0 or above; what a unit of each costs is fitted, 0 or above too.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "program/model/scaling/machine_facts.h"
#include "program/model/scaling/program_load.h"

namespace perfcast::program {

// One copy alone on a server, and how many there are to be.
struct CopiesOnMachine {
  const ProgramLoad* load = nullptr;
  const MachineFacts* machine = nullptr;
  double time_s = 1;  // of one copy alone, per unit of the load's work
  double copies = 1;
  // Where copies don't fill the vCPUs: never two on a core while another is free.
  double sharing() const;  // share of the copies that have a sibling on their core, 0 to 1
};

const std::vector<std::string>& slowdown_column_names();
Eigen::VectorXd slowdown_columns(const CopiesOnMachine& copies);

// What tells programs apart in how far physics is off, and how sure it is. Of one copy alone on the machine at hand.
inline constexpr int kSignatureSize = 8;
Eigen::VectorXd signature(const CopiesOnMachine& copies);

// Share of the server's memory rate that its copies ask for, beyond 1 where they can't have it.
double bandwidth_demand(const CopiesOnMachine& copies);

}  // namespace perfcast::program
