#include "machine/meter/log_devices.h"

#include <gmock/gmock.h>

#include <random>

#include "machine/meter/energy_reading.h"
#include "machine/meter/meter_csv.h"

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

PowerLog summed_log(const std::string& text) {
  auto log = parse_power_csv(text, "m.csv");
  EXPECT_TRUE(log.ok()) << to_text(log.error());
  return log ? std::move(*log) : PowerLog{};
}

TEST(LogDevicesTest, AddsDevicesAtEachInstant) {
  const PowerLog log = summed_log(
      "timestamp, index, name, power.draw [W]\n"
      "2026/11/25 20:11:35.000, 0, NVIDIA H100, 62.50 W\n2026/11/25 20:11:35.004, 1, NVIDIA H100, 70.25 W\n"
      "2026/11/25 20:11:36.000, 0, NVIDIA H100, 300.00 W\n2026/11/25 20:11:36.004, 1, NVIDIA H100, 301.00 W\n");
  ASSERT_THAT(log.samples, SizeIs(2));
  EXPECT_EQ(log.devices, 2u);
  EXPECT_DOUBLE_EQ(log.samples[0].power_w, 132.75);
  EXPECT_DOUBLE_EQ(log.samples[1].power_w, 601);
  EXPECT_NEAR(log.samples[1].unix_s - log.samples[0].unix_s, 1, 1e-6);
  // Decimal commas, and watts behind.
  EXPECT_DOUBLE_EQ(summed_log("time;outlet;power_w\n1700000000;a;1,5\n1700000000;b;2,25\n1700000001;a;3,5\n"
                              "1700000001;b;4,5\n")
                       .samples.at(0)
                       .power_w,
                   3.75);
}

TEST(LogDevicesTest, RefusesWhatItCannotAdd) {
  const auto one_is_gone =
      parse_power_csv("time,gpu,power_w\n1,0,5\n1,1,5\n2,0,5\n3,0,5\n4,0,5\n5,0,5\n6,0,5\n7,0,5\n8,0,5\n", "m.csv");
  ASSERT_FALSE(one_is_gone.ok());
  EXPECT_EQ(one_is_gone.error().code, "several-devices");
  EXPECT_THAT(one_is_gone.error().message, HasSubstr("7 of 8 instants lack one"));
  const auto nameless = parse_power_csv("time,power_w\n1,100\n1,200\n2,100\n2,200\n", "m.csv");
  ASSERT_FALSE(nameless.ok());
  EXPECT_EQ(nameless.error().code, "several-devices");
  // A row that was written twice is one.
  EXPECT_THAT(summed_log("time,power_w\n1,100\n2,100\n2,100\n3,5\n4,5\n5,5\n6,5\n7,5\n8,5\n").samples, SizeIs(8));
}

// However the rows of devices are ordered, the sums are the same.
TEST(LogDevicesTest, OrderOfRowsChangesNothing) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 50; ++trial) {
    const size_t devices = 2 + random() % 7, instants = 4 + random() % 40;
    std::vector<std::string> rows;
    std::vector<double> sums(instants);
    for (size_t device = 0; device < devices; ++device) {
      for (size_t instant = 0; instant < instants; ++instant) {
        const double power_w = static_cast<double>(random() % 400);
        sums[instant] += power_w;
        rows.push_back("gpu" + std::to_string(device) + "," + std::to_string(1700000000 + instant) + "." +
                       std::to_string(10 + random() % 80) + "," + std::to_string(power_w) + "\n");
      }
    }
    if (trial % 2 == 0) std::shuffle(rows.begin(), rows.end(), random);
    std::string text = "device,timestamp,power_w\n";
    for (const std::string& row : rows) text += row;
    const PowerLog log = summed_log(text);
    ASSERT_THAT(log.samples, SizeIs(instants));
    for (size_t instant = 0; instant < instants; ++instant)
      EXPECT_DOUBLE_EQ(log.samples[instant].power_w, sums[instant]);
  }
}

TEST(LogDevicesTest, RowsInBurstsAreNoGaps) {
  std::vector<double> apart_s;
  for (int burst = 0; burst < 6; ++burst) {
    apart_s.insert(apart_s.end(), 9, 0.01);
    apart_s.push_back(9.91);
  }
  EXPECT_EQ(usual_interval_s(apart_s), 9.91);
  std::vector<double> with_a_gap(100, 1.0);
  with_a_gap.push_back(300);
  EXPECT_EQ(usual_interval_s(with_a_gap), 1);
  EXPECT_EQ(usual_interval_s(std::vector<double>(10, 0.5)), 0.5);
  MeterFacts facts;
  facts.reading = MeterReading::kLog;
  facts.interval_s = kUnknown;
  EnergyAccumulator course(facts);
  for (int burst = 0; burst < 12; ++burst) {
    for (int row = 0; row < 10; ++row) course.add(10 * burst + 0.01 * row, 50);
  }
  const MeterEnergy energy = course.finish(0, 110);
  ASSERT_TRUE(energy.joules.has_value()) << energy.why_missing;
  EXPECT_NEAR(*energy.joules, 5500, 1e-6);
  EXPECT_EQ(energy.gap_s, 0);
}

}  // namespace
}  // namespace perfcast
