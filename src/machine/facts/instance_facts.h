#pragma once
// What is known of instance types by their names, as vendors document them: whose the vCPUs are, and how much memory.

#include <optional>
#include <string_view>

namespace perfcast {

enum class CpuShare {
  kOwn,        // the vCPUs are the instance's alone, or nothing is known to the contrary
  kShared,     // with other instances, without a promise of how much
  kBurstable,  // a baseline of less than all, and credits for more
};
const char* name_of(CpuShare share);  // "own", "shared", "burstable"

// `vendor`: "aws", "azure", ...; empty: by the name alone, of vendors whose names can't be taken for another's.
// By the vendors' naming: a family's name tells whether its vCPUs are shared. No vendor's page was read for the tables.
CpuShare cpu_share_of(std::string_view vendor, std::string_view name);

// GiB of families that guests don't tell their memory of (AWS's on Arm, mostly); nullopt: none of these. By the naming,
// too: AWS's family letters stand for GiB per vCPU (c 2, m 4, r 8, x 16); types outside of it are listed one by one.
std::optional<double> published_memory_gib(std::string_view vendor, std::string_view name, double vcpus);

}  // namespace perfcast
