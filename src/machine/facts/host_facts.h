#pragma once
// Facts of a machine that programs are measured on, as it tells them itself. Profiles and bundles carry them.

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "machine/facts/caches.h"
#include "machine/facts/processor.h"

namespace perfcast {

// Empty or absent where they could not be read.
struct HostFacts : ProcessorIdentity, CacheSizes {
  std::optional<int64_t> logical_cpus;
  std::optional<int64_t> threads_per_core;  // CPUs that the kernel takes for threads of one core
  std::optional<double> memory_bytes;
  std::vector<std::string> cpu_flags;  // of /proc/cpuinfo
  std::string kernel;                  // uname -r
  std::string os;                      // PRETTY_NAME of os-release
  std::string hypervisor;              // "kvm", "none", ...; empty: unknown
  bool operator==(const HostFacts&) const = default;
};

// Fields that are empty or absent are left out.
Json to_json(const HostFacts& host);
// A field may be missing. The error names every mistake; `path` stands before the fields' names in it.
Result<HostFacts> host_facts_from_json(const Json& json, const std::string& path);

}  // namespace perfcast
