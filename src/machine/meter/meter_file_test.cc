#include "machine/meter/meter_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cmath>

#include "machine/meter/testing/folder_of_files.h"

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// As if it had been written so long ago.
void age(const std::string& path, time_t seconds) {
  struct timespec now {};
  clock_gettime(CLOCK_REALTIME, &now);
  now.tv_sec -= seconds;
  const struct timespec times[2] = {now, now};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST(MeterFile, TellsKindsApart) {
  EXPECT_EQ(*meter_file_kind("time,watts\n1,2\n", "f"), MeterFileKind::kCsv);
  EXPECT_EQ(*meter_file_kind("  {\"PowerWatts\": 1}", "f"), MeterFileKind::kRedfish);
  EXPECT_EQ(*meter_file_kind("PS1 | 5 Watts | ok\n", "f"), MeterFileKind::kIpmi);
  EXPECT_EQ(*meter_file_kind("System,118,Watts,ok\n", "f"), MeterFileKind::kIpmi);
  EXPECT_EQ(meter_file_kind("hello\n", "f").error().code, "bad-meter-file");
  EXPECT_EQ(meter_file_kind("", "f").error().code, "bad-meter-file");
}

TEST(MeterFile, ReadsASnapshotEachTimeItChanges) {
  const FolderOfFiles folder{{"p.txt", "Pwr Consumption | 112 Watts | ok\n"}};
  const auto meter = open_meter_file(folder.of("p.txt"));
  ASSERT_TRUE(meter) << to_text(meter.error());
  EXPECT_EQ((*meter)->facts().kind, "ipmi");
  EXPECT_EQ((*meter)->facts().scope, EnergyScope::kServer);
  EXPECT_TRUE(std::isnan((*meter)->facts().interval_s));
  EXPECT_EQ(**(*meter)->read(), 112);
  EXPECT_FALSE(*(*meter)->read());  // the same file again
  folder.write("p.txt", "Pwr Consumption | 1140 Watts | ok\n");
  EXPECT_EQ(**(*meter)->read(), 1140);
  folder.write("p.txt", "");
  EXPECT_FALSE(*(*meter)->read());  // being written
  folder.write("p.txt", "Pwr Consumption | gone\n");
  EXPECT_EQ((*meter)->read().error().code, "no-power");
}

TEST(MeterFile, LeavesOutWhatWasWrittenLongBefore) {
  const FolderOfFiles folder{{"p.json", R"({"PowerWatts": {"Reading": 5}})"}};
  age(folder.of("p.json"), 60);
  const auto meter = open_meter_file(folder.of("p.json"));
  ASSERT_TRUE(meter);
  EXPECT_FALSE(*(*meter)->read());
  folder.write("p.json", R"({"PowerWatts": {"Reading": 6.5}})");
  EXPECT_EQ(**(*meter)->read(), 6.5);
}

TEST(MeterFile, CutsALogToItsStretch) {
  const FolderOfFiles folder{
      {"m.csv", "time,watts\n1700000000,1\n1700000010,2\n1700000020,3\n1700000030,4\n1700000040,5\n"}};
  MeterFileOptions options;
  options.clock_offset_s = 100;
  const auto meter = open_meter_file(folder.of("m.csv"), options);
  ASSERT_TRUE(meter);
  EXPECT_EQ((*meter)->facts().reading, MeterReading::kLog);
  EXPECT_FALSE(*(*meter)->read());
  const auto log = (*meter)->logged(1700000115, 1700000125);
  ASSERT_TRUE(log);
  ASSERT_THAT(log->samples, SizeIs(3));  // one beyond either end
  EXPECT_EQ(log->samples[0].unix_s, 1700000110);
  EXPECT_EQ(log->samples[2].power_w, 4);
  EXPECT_THAT((*meter)->logged(1, 2)->samples, SizeIs(1));
  EXPECT_THAT((*meter)->logged(1800000000, 1800000001)->samples, SizeIs(1));
}

TEST(MeterFile, ChoosesMetersAndFiles) {
  const FolderOfFiles folder{{"s.txt", "GPU1 | 70.000 | Watts | ok\nGPU2 | 90.000 | Watts | ok\n"}};
  const auto found = [] {
    MeterSet set;
    set.missing.push_back({"rapl", "no powercap", ""});
    return set;
  };
  const auto chosen = choose_meters(found(), {folder.of("s.txt#GPU2")});
  ASSERT_TRUE(chosen) << to_text(chosen.error());
  EXPECT_EQ(**chosen->meters[0]->read(), 90);
  EXPECT_THAT(choose_meters(found(), {})->missing, SizeIs(1));
  const auto absent = choose_meters(found(), {"rapl"});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, "no-such-meter");
  EXPECT_THAT(absent.error().message, HasSubstr("no powercap"));
  EXPECT_EQ(choose_meters(found(), {folder.of("s.txt")}).error().code, "ambiguous-sensor");
  EXPECT_EQ(choose_meters(found(), {folder.of("t.txt")}).error().code, "no-such-meter");
}

TEST(MeterFile, OnlyIpmiHasSensorsToChoose) {
  const FolderOfFiles folder{{"p.csv", "timestamp,power_w\n1,10\n2,11\n"}};
  MeterFileOptions options;
  EXPECT_TRUE(open_meter_file(folder.of("p.csv"), options));
  options.sensor = "zz";
  const auto refused = open_meter_file(folder.of("p.csv"), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "bad-usage");
}

}  // namespace
}  // namespace perfcast
