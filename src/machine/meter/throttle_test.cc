#include "machine/meter/throttle.h"

#include <gmock/gmock.h>

#include "machine/meter/testing/folder_of_files.h"

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Throttle, CountsHeatAndSinkingClocks) {
  const FolderOfFiles folder;
  for (const std::string cpu : {"cpu0", "cpu1"}) {
    folder.write(cpu + "/thermal_throttle/core_throttle_count", "3\n");
    folder.write(cpu + "/thermal_throttle/package_throttle_count", "10\n");
    folder.write(cpu + "/cpufreq/scaling_cur_freq", "3000000\n");
    folder.write(cpu + "/cpufreq/scaling_max_freq", "2000000\n");
    folder.write(cpu + "/cpufreq/cpuinfo_max_freq", "4000000\n");
  }
  folder.write("cpufreq/scaling_cur_freq", "9000000\n");  // no CPU
  ThrottleWatch watch(folder.path());
  EXPECT_EQ(watch.blind(), "");
  EXPECT_EQ(watch.apart_s(), 0.5);
  watch.begin();
  for (int i = 0; i < 5; ++i) watch.look();
  folder.write("cpu0/cpufreq/scaling_cur_freq", "2000000\n");
  folder.write("cpu1/cpufreq/scaling_cur_freq", "2500000\n");
  for (int i = 0; i < 5; ++i) watch.look();
  folder.write("cpu1/thermal_throttle/core_throttle_count", "5\n");
  folder.write("cpu0/thermal_throttle/package_throttle_count", "14\n");
  const auto warnings = watch.end();
  ASSERT_THAT(warnings, SizeIs(3));
  EXPECT_THAT(warnings[0].message, HasSubstr("throttled for heat 6 times"));
  EXPECT_EQ(warnings[1].code, "clock-drop");
  EXPECT_THAT(warnings[1].message, HasSubstr("from 3.00 to 2.50 GHz"));
  EXPECT_THAT(warnings[2].message, HasSubstr("held to 2.00 of 4.00 GHz"));
}

TEST(Throttle, SaysNothingOfAQuietMachineOrOneThatTellsNothing) {
  const FolderOfFiles folder{{"cpu0/thermal_throttle/core_throttle_count", "7\n"}, {"cpu1/online", "1\n"}};
  ThrottleWatch watch(folder.path());
  watch.begin();
  EXPECT_THAT(watch.end(), IsEmpty());
  EXPECT_EQ(watch.blind(), "");
  for (int cpu = 2; cpu < 64; ++cpu) folder.write("cpu" + std::to_string(cpu) + "/online", "1\n");
  EXPECT_EQ(ThrottleWatch(folder.path()).apart_s(), 2);
  ThrottleWatch blind(folder.of("absent"));
  blind.begin();
  EXPECT_THAT(blind.end(), IsEmpty());
  EXPECT_THAT(blind.blind(), HasSubstr("a virtual machine has none"));
}

}  // namespace
}  // namespace perfcast
