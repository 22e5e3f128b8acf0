#include "model/features/microarchitecture.h"

#include "base/text.h"

namespace perfcast {
namespace {

struct IntelModel {
  int64_t model;
  const char* name;
};
// CPUID models of family 6 that servers and workstations carry.
constexpr IntelModel kIntelModels[] = {
    {45, "sandy-bridge"},     {62, "sandy-bridge"},     {60, "haswell"},          {63, "haswell"},
    {61, "broadwell"},        {71, "broadwell"},        {79, "broadwell"},        {86, "broadwell"},
    {78, "skylake-client"},   {94, "skylake-client"},   {142, "skylake-client"},  {158, "skylake-client"},
    {85, "skylake-server"},   {106, "ice-lake"},        {108, "ice-lake"},        {125, "ice-lake"},
    {126, "ice-lake"},        {167, "ice-lake"},        {143, "sapphire-rapids"}, {207, "sapphire-rapids"},
    {151, "sapphire-rapids"}, {183, "sapphire-rapids"}, {173, "granite-rapids"},  {174, "granite-rapids"},
};

bool is_arm(const Platform& platform) { return platform.arch == "aarch64" || platform.arch == "arm64"; }
bool is_amd(const Platform& platform) { return lower_case(platform.vendor).find("amd") != std::string::npos; }
bool is_intel(const Platform& platform) { return lower_case(platform.vendor).find("intel") != std::string::npos; }

std::string amd_name(const Platform& platform) {
  const int64_t model = *platform.model;
  switch (*platform.cpu_family) {
    case 23:
      return model < 0x30 ? "zen1" : "zen2";
    case 25:  // 0x10-0x1f, 0x60-0x7f and 0xa0-0xaf carry Zen 4
      return (model >= 0x10 && model <= 0x1f) || (model >= 0x60 && model <= 0x7f) || model >= 0xa0 ? "zen4" : "zen3";
    case 26:
      return "zen5";
    default:
      return platform.id;
  }
}

}  // namespace

std::string microarchitecture(const Platform& platform) {
  if (is_arm(platform) || !platform.cpu_family || !platform.model) return platform.id;
  if (is_amd(platform)) return amd_name(platform);
  if (is_intel(platform) && *platform.cpu_family == 6) {
    for (const IntelModel& known : kIntelModels) {
      if (known.model == *platform.model) return known.name;
    }
  }
  return platform.id;
}

std::string core_line(const Platform& platform) {
  if (is_arm(platform)) return "arm";
  if (is_amd(platform)) return "amd";
  if (is_intel(platform)) {
    const std::string name = microarchitecture(platform);
    return name == "ice-lake" || name == "sapphire-rapids" || name == "granite-rapids" ? "intel-cove" : "intel-core";
  }
  return platform.vendor.empty() ? platform.id : lower_case(platform.vendor);
}

}  // namespace perfcast
