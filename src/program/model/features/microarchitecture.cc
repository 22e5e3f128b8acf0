#include "program/model/features/microarchitecture.h"

#include <map>

#include "base/text.h"
#include "machine/facts/core_design.h"

namespace perfcast::program {

std::string microarchitecture(const Platform& platform) {
  const std::string design = cpuid_core_design(platform);
  return design.empty() ? platform.id : design;
}

std::vector<size_t> designs_of(const std::vector<Platform>& platforms) {
  std::map<std::string, size_t> index;
  std::vector<size_t> designs;
  designs.reserve(platforms.size());
  for (const Platform& platform : platforms) {
    designs.push_back(index.try_emplace(microarchitecture(platform), index.size()).first->second);
  }
  return designs;
}

std::string core_line(const Platform& platform) {
  if (is_arm(platform.arch)) return "arm";
  const std::string vendor = vendor_key(platform.vendor);
  if (vendor == "intel") {
    const std::string design = cpuid_core_design(platform);
    return design == "ice-lake" || design == "sapphire-rapids" || design == "granite-rapids" ? "intel-cove"
                                                                                             : "intel-core";
  }
  return vendor.empty() ? platform.id : vendor;
}

}  // namespace perfcast::program
