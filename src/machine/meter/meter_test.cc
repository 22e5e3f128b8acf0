#include "machine/meter/meter.h"

#include <gmock/gmock.h>

#include "machine/meter/testing/folder_of_files.h"

namespace perfcast {
namespace {

using testing::SizeIs;

MeterRoots roots_in(const FolderOfFiles& folder) {
  return {folder.of("powercap"), folder.of("hwmon"), folder.of("cpu"), "libno-such-nvml.so.1"};
}

TEST(Meter, SaysOfEveryKindWhatIsMissing) {
  const FolderOfFiles folder;
  const MeterSet set = find_meters(roots_in(folder));
  EXPECT_THAT(set.meters, SizeIs(0));
  ASSERT_THAT(set.missing, SizeIs(3));
  EXPECT_EQ(set.missing[0].kind, "rapl");
  EXPECT_EQ(set.missing[1].kind, "nvml");
  EXPECT_EQ(set.missing[2].kind, "hwmon");
  for (const MissingMeter& missing : set.missing) {
    EXPECT_NE(missing.reason, "");
    EXPECT_NE(missing.advice, "");
  }
}

TEST(Meter, ChoosesByNameAndKind) {
  const FolderOfFiles folder{{"powercap/intel-rapl:0/name", "package-0\n"}, {"powercap/intel-rapl:0/energy_uj", "5\n"},
                             {"powercap/intel-rapl:1/name", "package-1\n"}, {"powercap/intel-rapl:1/energy_uj", "5\n"},
                             {"hwmon/hwmon0/name", "power_meter\n"},        {"hwmon/hwmon0/power1_average", "5\n"}};
  EXPECT_THAT(find_meters(roots_in(folder)).all(), SizeIs(3));
  EXPECT_THAT(choose_meters(find_meters(roots_in(folder)), {"rapl"})->meters, SizeIs(2));
  const auto one = choose_meters(find_meters(roots_in(folder)), {"rapl:package-1", "hwmon"});
  ASSERT_TRUE(one);
  ASSERT_THAT(one->meters, SizeIs(2));
  EXPECT_EQ(one->meters[0]->facts().name, "rapl:package-1");
  EXPECT_EQ(choose_meters(find_meters(roots_in(folder)), {"rapl", "rapl:package-1"}).error().code, "bad-usage");
  EXPECT_EQ(choose_meters(find_meters(roots_in(folder)), {"rapl:package-7"}).error().code, "no-such-meter");
}

TEST(Meter, NamesScopesAndReadings) {
  EXPECT_EQ(to_string(EnergyScope::kPackage), "package");
  EXPECT_EQ(to_string(EnergyScope::kOther), "other");
  EXPECT_EQ(to_string(MeterReading::kLog), "log");
}

}  // namespace
}  // namespace perfcast
