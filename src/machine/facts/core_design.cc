#include "machine/facts/core_design.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "machine/facts/chip_names.h"

namespace perfcast {
namespace {

struct IntelModel {
  int64_t model;
  const char* design;
};
// CPUID models of family 6 that servers, workstations and desktops carry.
constexpr IntelModel kIntelModels[] = {
    {42, "sandy-bridge"},     {58, "sandy-bridge"},     {69, "haswell"},          {70, "haswell"},
    {165, "skylake-client"},  {166, "skylake-client"},  {140, "ice-lake"},        {141, "ice-lake"},
    {45, "sandy-bridge"},     {62, "sandy-bridge"},     {60, "haswell"},          {63, "haswell"},
    {61, "broadwell"},        {71, "broadwell"},        {79, "broadwell"},        {86, "broadwell"},
    {78, "skylake-client"},   {94, "skylake-client"},   {142, "skylake-client"},  {158, "skylake-client"},
    {85, "skylake-server"},   {106, "ice-lake"},        {108, "ice-lake"},        {125, "ice-lake"},
    {126, "ice-lake"},        {167, "ice-lake"},        {143, "sapphire-rapids"}, {207, "sapphire-rapids"},
    {151, "sapphire-rapids"}, {183, "sapphire-rapids"}, {173, "granite-rapids"},  {174, "granite-rapids"},
};

const char* amd_design(int64_t family, int64_t model) {
  switch (family) {
    case 23:
      return model < 0x30 ? "zen1" : "zen2";
    case 25:  // 0x10-0x1f, 0x60-0x7f and 0xa0-0xaf carry Zen 4
      return (model >= 0x10 && model <= 0x1f) || (model >= 0x60 && model <= 0x7f) || model >= 0xa0 ? "zen4" : "zen3";
    case 26:
      return "zen5";
    default:
      return "";
  }
}

}  // namespace

std::string cpuid_core_design(const ProcessorIdentity& processor) {
  if (is_arm(processor.arch) || !processor.cpu_family || !processor.model) return "";
  const std::string vendor = vendor_key(processor.vendor);
  if (vendor == "amd") return amd_design(*processor.cpu_family, *processor.model);
  if (vendor == "intel" && *processor.cpu_family == 6) {
    for (const IntelModel& known : kIntelModels) {
      if (known.model == *processor.model) return known.design;
    }
  }
  return "";
}

std::string core_design(const ProcessorIdentity& processor) {
  if (is_arm(processor.arch)) {
    const std::string name = cpu_name_key(told_name(processor.name));
    for (const char* known : kArmCoreDesigns) {
      if (name.find(known) != std::string::npos) return known;
    }
    return "unknown";
  }
  const std::string design = cpuid_core_design(processor);
  // One CPUID model carries both; VNNI came with stepping 5.
  if (design == "skylake-server" && processor.stepping && *processor.stepping >= 5) return "cascade-lake";
  return design.empty() ? "unknown" : design;
}

std::string core_cycles_metric(const std::string& design) {
  std::string name = "core_" + design + "_cycles_count";
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string core_bounds_in_words(const CoreBoundRatios& ratios) {
  constexpr double kWorthAName = 0.05;
  constexpr size_t kNamed = 4;
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [bound, ratio] : ratios) {
    if (ratio >= kWorthAName) order.emplace_back(ratio, bound);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (order.size() > kNamed) order.resize(kNamed);
  std::vector<std::string> parts;
  parts.reserve(order.size());
  for (const auto& [ratio, bound] : order) parts.push_back(fmt::format("{} {:.0f}%", bound, 100 * ratio));
  return join(parts, ", ");
}

}  // namespace perfcast
