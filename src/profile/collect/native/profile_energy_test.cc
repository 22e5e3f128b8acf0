#include "profile/collect/native/profile_energy.h"

#include <gmock/gmock.h>

#include <map>

#include "machine/meter/testing/folder_of_files.h"
#include "profile/collect/native/host_facts.h"
#include "profile/collect/native/native_collector.h"

namespace perfcast {
namespace {

using testing::HasSubstr;

MeterEnergy energy_of(EnergyScope scope, const std::string& kind, std::optional<double> joules) {
  MeterEnergy energy;
  energy.meter.name = kind + ":x";
  energy.meter.kind = kind;
  energy.meter.scope = scope;
  energy.joules = joules;
  if (!joules) energy.why_missing = "the counter went back";
  return energy;
}

struct Recorded {
  std::map<std::string, double> joules;
  std::map<std::string, std::string> missing;
};

Recorded recorded(const std::vector<EnergyReport>& runs, const std::string& why_none = "") {
  Recorded found;
  record_energy(
      runs, why_none, [&](const char* event, double joules) { found.joules[event] = joules; },
      [&](const char* event, const std::string& reason) { found.missing[event] = reason; });
  return found;
}

TEST(ProfileEnergy, AddsPackagesAndTakesOneKindOfMeter) {
  EnergyReport run;
  run.meters = {energy_of(EnergyScope::kPackage, "rapl", 10), energy_of(EnergyScope::kPackage, "rapl", 7),
                energy_of(EnergyScope::kPackage, "hwmon", 18), energy_of(EnergyScope::kGpu, "nvml", std::nullopt)};
  EnergyReport second = run, third = run;
  second.meters[0].joules = 30;
  third.meters[0].joules = 11;
  const Recorded found = recorded({run, second, third}, "rapl: no powercap");
  EXPECT_EQ(found.joules.size(), 1u);
  EXPECT_EQ(found.joules.at("energy_package"), 18);  // the median of 17, 37 and 18
  EXPECT_EQ(found.missing.at("energy_gpu"), "nvml:x: the counter went back");
  EXPECT_EQ(found.missing.at("energy_server"), "no meter here is of that; rapl: no powercap");
}

TEST(ProfileEnergy, MeasuresTheNativeRuns) {
  const FolderOfFiles folder{{"powercap/intel-rapl:0/name", "package-0\n"},
                             {"powercap/intel-rapl:0/energy_uj", "5000000\n"},
                             {"powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n"}};
  ProfileEnergy energy(find_meters({folder.of("powercap"), folder.of("hwmon"), folder.of("cpu"), "libno-nvml.so"}));
  ASSERT_TRUE(energy.has_meters());
  NativeCollector native(read_host_facts(), nullptr, &energy);
  CollectRequest request;
  request.native_repeats = 1;
  request.pass_output = false;
  const std::string counter = folder.of("powercap/intel-rapl:0/energy_uj");
  // At once, as the kernel changes it: a file that is being written is empty for a moment.
  request.command = {"sh", "-c", "echo 7500000 > " + counter + ".new && mv " + counter + ".new " + counter};
  const auto found = native.collect(request);
  ASSERT_TRUE(found) << to_text(found.error());
  EXPECT_DOUBLE_EQ(found->counters.at("energy_package_joules"), 2.5);
  EXPECT_THAT(found->missing.at("energy_gpu_joules"), HasSubstr("nvml: NVIDIA's management library can't be loaded"));
}

TEST(ProfileEnergy, SaysWhyAProfileHasNone) {
  ProfileEnergy energy(find_meters({"/nowhere/a", "/nowhere/b", "/nowhere/c", "libno-nvml.so"}));
  NativeCollector native(read_host_facts(), nullptr, &energy);
  CollectRequest request;
  request.native_repeats = 1;
  request.pass_output = false;
  request.command = {"true"};
  const auto found = native.collect(request);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->counters.contains("energy_package_joules"));
  EXPECT_THAT(found->missing.at("energy_package_joules"), HasSubstr("rapl: there is no /nowhere/a"));
}

}  // namespace
}  // namespace perfcast
