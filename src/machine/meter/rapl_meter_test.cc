#include "machine/meter/rapl_meter.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>

#include "machine/meter/testing/folder_of_files.h"

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void write_zone(const FolderOfFiles& folder, const std::string& zone, const std::string& name,
                const std::string& energy, const std::string& range = "262143328850") {
  folder.write(zone + "/name", name + "\n");
  folder.write(zone + "/energy_uj", energy + "\n");
  folder.write(zone + "/max_energy_range_uj", range + "\n");
}

TEST(RaplMeter, FindsTheDomainsOfTwoSockets) {
  const FolderOfFiles folder;
  folder.write("intel-rapl/enabled", "1\n");
  write_zone(folder, "intel-rapl:0", "package-0", "1500000");
  write_zone(folder, "intel-rapl:0:0", "core", "700000");
  write_zone(folder, "intel-rapl:0:1", "dram", "300000", "65712999613");
  write_zone(folder, "intel-rapl:1", "package-1", "2500000");
  write_zone(folder, "intel-rapl:1:0", "uncore", "1");
  write_zone(folder, "intel-rapl:2", "psys", "9000000");
  write_zone(folder, "intel-rapl-mmio:0", "package-0", "1500000");  // the same package by another road
  MeterSet set;
  find_rapl_meters(folder.path(), set);
  EXPECT_THAT(set.missing, IsEmpty());
  ASSERT_THAT(set.meters, SizeIs(6));
  const char* const names[] = {"rapl:package-0", "rapl:package-0/core",   "rapl:package-0/dram",
                               "rapl:package-1", "rapl:package-1/uncore", "rapl:psys"};
  const EnergyScope scopes[] = {EnergyScope::kPackage, EnergyScope::kCores,    EnergyScope::kMemory,
                                EnergyScope::kPackage, EnergyScope::kGraphics, EnergyScope::kPlatform};
  for (size_t i = 0; i < 6; ++i) {
    const MeterFacts& facts = set.meters[i]->facts();
    EXPECT_EQ(facts.name, names[i]);
    EXPECT_EQ(facts.scope, scopes[i]);
    EXPECT_EQ(facts.kind, "rapl");
    EXPECT_EQ(facts.unit, "uJ");
    EXPECT_EQ(facts.reading, MeterReading::kEnergy);
    EXPECT_EQ(facts.interval_s, 0.001);
    EXPECT_FALSE(facts.accuracy_ratio);
    EXPECT_THAT(facts.accuracy, HasSubstr("not stated"));
  }
  EXPECT_DOUBLE_EQ(set.meters[0]->facts().range_joules, 262143.328850);
  EXPECT_DOUBLE_EQ(set.meters[2]->facts().range_joules, 65712.999613);
  EXPECT_EQ(set.meters[4]->facts().covers, "the graphics of package-1");
  EXPECT_DOUBLE_EQ(**set.meters[0]->read(), 1.5);
  folder.write("intel-rapl:0/energy_uj", "2750000\n");
  EXPECT_DOUBLE_EQ(**set.meters[0]->read(), 2.75);
  std::filesystem::remove(folder.of("intel-rapl:0/energy_uj"));
  EXPECT_EQ(set.meters[0]->read().error().code, "file-not-found");
}

TEST(RaplMeter, TellsDomainsOfOneNameApart) {
  const FolderOfFiles folder;
  write_zone(folder, "intel-rapl:0", "package-0", "1");
  write_zone(folder, "intel-rapl:1", "package-0", "1");
  MeterSet set;
  find_rapl_meters(folder.path(), set);
  ASSERT_THAT(set.meters, SizeIs(2));
  EXPECT_EQ(set.meters[1]->facts().name, "rapl:package-0@1");
}

TEST(RaplMeter, SaysWhyThereIsNone) {
  MeterSet set;
  const FolderOfFiles folder;
  find_rapl_meters(folder.of("powercap"), set);
  folder.write("dtpm/name", "x");
  find_rapl_meters(folder.path(), set);
  ASSERT_THAT(set.missing, SizeIs(2));
  EXPECT_THAT(set.missing[0].reason, HasSubstr("there is no " + folder.of("powercap")));
  EXPECT_THAT(set.missing[0].advice, HasSubstr("not in a virtual machine"));
  EXPECT_THAT(set.missing[1].reason, HasSubstr("nothing in " + folder.path() + " is of RAPL"));
  EXPECT_THAT(set.missing[1].advice, HasSubstr("modprobe"));
  EXPECT_THAT(set.meters, IsEmpty());
}

TEST(RaplMeter, SaysWhatCanNotBeRead) {
  const FolderOfFiles folder;
  write_zone(folder, "intel-rapl:0", "package-0", "none");
  write_zone(folder, "intel-rapl:1", "package-1", "5");
  MeterSet set;
  find_rapl_meters(folder.path(), set);
  ASSERT_THAT(set.meters, SizeIs(1));
  ASSERT_THAT(set.missing, SizeIs(1));
  EXPECT_THAT(set.missing[0].reason, HasSubstr("1 of 2 domains can't be read"));
}

TEST(RaplMeter, SaysHowToMendAPermission) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const FolderOfFiles folder;
  write_zone(folder, "intel-rapl:0", "package-0", "1500000");
  ASSERT_EQ(chmod(folder.of("intel-rapl:0/energy_uj").c_str(), 0), 0);
  MeterSet set;
  find_rapl_meters(folder.path(), set);
  EXPECT_THAT(set.meters, IsEmpty());
  ASSERT_THAT(set.missing, SizeIs(1));
  EXPECT_THAT(set.missing[0].reason, HasSubstr("1 of 1 domains may not be read"));
  EXPECT_THAT(set.missing[0].advice, HasSubstr("chmod a+r"));
}

}  // namespace
}  // namespace perfcast
