#include "machine/meter/hwmon_meter.h"

#include <gmock/gmock.h>

#include "machine/meter/testing/folder_of_files.h"

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(HwmonMeter, ReadsEnergyBeforePowerAndAveragesBeforeInstants) {
  const FolderOfFiles folder{{"hwmon0/name", "k10temp\n"},
                             {"hwmon0/temp1_input", "41000\n"},
                             {"hwmon1/name", "power_meter\n"},
                             {"hwmon1/power1_average", "213000000\n"},
                             {"hwmon1/power1_average_interval", "500\n"},
                             {"hwmon1/power1_accuracy", "95.0%\n"},
                             {"hwmon2/name", "amdgpu\n"},
                             {"hwmon2/power1_average", "31000000\n"},
                             {"hwmon2/power1_input", "33000000\n"},
                             {"hwmon2/power1_label", "PPT\n"},
                             {"hwmon3/name", "xe\n"},
                             {"hwmon3/energy1_input", "9500000\n"},
                             {"hwmon3/power1_input", "5\n"},
                             {"hwmon4/name", "amdgpu\n"},
                             {"hwmon4/power1_input", "12000000\n"}};
  MeterSet set;
  find_hwmon_meters(folder.path(), set);
  EXPECT_THAT(set.missing, IsEmpty());
  ASSERT_THAT(set.meters, SizeIs(4));
  const MeterFacts& server = set.meters[0]->facts();
  EXPECT_EQ(server.name, "hwmon:power_meter/power1");
  EXPECT_EQ(server.scope, EnergyScope::kServer);
  EXPECT_EQ(server.interval_s, 0.5);
  EXPECT_NEAR(server.accuracy_ratio.value(), 0.05, 1e-12);
  EXPECT_EQ(server.unit, "uW");
  EXPECT_DOUBLE_EQ(**set.meters[0]->read(), 213);
  const MeterFacts& gpu = set.meters[1]->facts();
  EXPECT_EQ(gpu.scope, EnergyScope::kGpu);
  EXPECT_EQ(gpu.covers, "GPU of the driver amdgpu (PPT)");
  EXPECT_DOUBLE_EQ(**set.meters[1]->read(), 31);
  EXPECT_EQ(set.meters[2]->facts().reading, MeterReading::kEnergy);
  EXPECT_DOUBLE_EQ(**set.meters[2]->read(), 9.5);
  EXPECT_EQ(set.meters[3]->facts().name, "hwmon:amdgpu/power1@hwmon4");
}

TEST(HwmonMeter, TakesSocketsForTheirCores) {
  const FolderOfFiles folder{{"hwmon0/name", "amd_energy\n"},
                             {"hwmon0/energy1_input", "1000000\n"},
                             {"hwmon0/energy1_label", "Ecore000\n"},
                             {"hwmon0/energy2_input", "7000000\n"},
                             {"hwmon0/energy2_label", "Esocket0\n"}};
  MeterSet set;
  find_hwmon_meters(folder.path(), set);
  ASSERT_THAT(set.meters, SizeIs(1));
  EXPECT_EQ(set.meters[0]->facts().scope, EnergyScope::kPackage);
  EXPECT_EQ(set.meters[0]->facts().covers, "CPU package (Esocket0)");
}

TEST(HwmonMeter, SaysWhyThereIsNone) {
  const FolderOfFiles folder{{"hwmon0/name", "coretemp\n"}, {"hwmon0/temp1_input", "41000\n"}};
  MeterSet set;
  find_hwmon_meters(folder.of("absent"), set);
  find_hwmon_meters(folder.path(), set);
  folder.write("hwmon1/name", "ina238\n");
  folder.write("hwmon1/power1_input", "\n");
  find_hwmon_meters(folder.path(), set);
  ASSERT_THAT(set.missing, SizeIs(3));
  EXPECT_THAT(set.missing[0].reason, HasSubstr("there is no " + folder.of("absent")));
  EXPECT_THAT(set.missing[1].reason, HasSubstr("none of the 1 chips"));
  EXPECT_THAT(set.missing[2].reason, HasSubstr("1 of 1 sensors can't be read"));
  EXPECT_THAT(set.meters, IsEmpty());
}

}  // namespace
}  // namespace perfcast
