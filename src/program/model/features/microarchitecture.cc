#include "program/model/features/microarchitecture.h"

#include "base/text.h"
#include "machine/facts/core_design.h"

namespace perfcast::program {

std::string microarchitecture(const Platform& platform) {
  const std::string design = cpuid_core_design(platform);
  return design.empty() ? platform.id : design;
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
