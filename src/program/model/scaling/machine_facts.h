#pragma once
// A server as many copies of a program see it: what they share.

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "program/corpus/corpus.h"

namespace perfcast::program {

struct MachineFacts {
  std::string platform, provider, name;  // platform: id; name: of the instance type
  std::string design;                    // of the core: core_design(); "unknown"
  enum class Make { kIntel, kAmd, kArm, kOther } make = Make::kOther;
  double vcpus = 1, cores = 1;
  bool siblings = false;  // two vCPUs are threads of one core
  // vCPUs that the hypervisor moves between cores: what the guest sees of cores and threads says nothing.
  bool floats = false;
  // Of one instance; what a server doesn't say is the median of its core design, then of all.
  double l1d_bytes = 32768, l2_bytes = 1 << 20, l3_bytes = 32 << 20, l3_instances_count = 1;
  double memory_read_bytes_per_s = 4e9;  // all vCPUs together
  bool memory_read_known = false;
};

// Servers whose number of vCPUs is known, in order; `servers_index` of each into `servers`.
struct MachineList {
  std::vector<MachineFacts> machines;
  std::vector<size_t> servers_index;
};
MachineList machines_of(const std::vector<Server>& servers, const std::vector<Platform>& platforms);

// One type of one provider on one CPU model: no two of a list have the same.
std::string server_key(const std::string& provider, const std::string& name, const std::string& platform);

// Nearly alike for copies: CPU model, provider, size (a power of two), siblings, floating.
std::string machine_class(const MachineFacts& machine);

}  // namespace perfcast::program
