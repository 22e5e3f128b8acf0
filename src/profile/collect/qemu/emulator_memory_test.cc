#include "profile/collect/qemu/emulator_memory.h"

#include <gmock/gmock.h>

#include <cmath>

#include "machine/ceiling/free_memory.h"
#include "profile/collect/qemu/qemu_collector.h"

namespace perfcast {
namespace {

using testing::HasSubstr;

constexpr double kGiB = 1 << 30;

TEST(EmulatorMemory, IsBoundedByTheMachineAndTheProgram) {
  CollectRequest request;
  EXPECT_EQ(emulator_memory_bytes(request, 16 * kGiB), 4 * kGiB);
  request.native_memory_bytes = 3 * kGiB;
  EXPECT_EQ(emulator_memory_bytes(request, 16 * kGiB), 10 * kGiB);
  EXPECT_EQ(address_records_bytes(1024 * kGiB), 6 * kGiB);
}

TEST(EmulatorMemory, KnowsWhichEmulatorsKeepRecords) {
  EXPECT_TRUE(keeps_address_records("7.2.22"));
  EXPECT_TRUE(keeps_address_records("6.0"));
  EXPECT_FALSE(keeps_address_records("8.0.2"));
  EXPECT_FALSE(keeps_address_records("10.1.0"));
  EXPECT_FALSE(keeps_address_records(""));
}

// Enough TB, up to nine, that the records don't fit into what the emulator may take here; 0: this machine has too much.
int terabytes() {
  const int needed = static_cast<int>(std::ceil(1 + 0.25 * free_memory_bytes() / (6 * kGiB)));
  return needed <= 9 ? needed : 0;
}

class Reservation : public testing::TestWithParam<const char*> {
 protected:
  CollectRequest request() const {
    CollectRequest request;
    request.command = {PERFCAST_NATIVE_ONLY, GetParam(), std::to_string(terabytes())};
    request.pass_output = false;
    request.input_descriptor = -1;
    request.limit_s = 100;
    return request;
  }
  void SetUp() override {
    if (!QemuCollector().available()) GTEST_SKIP() << "no emulator here";
    if (terabytes() == 0) GTEST_SKIP() << "this machine has memory for whatever a program reserves";
  }
};

// Told by the native run: the emulator is not even started, and the native part stays.
TEST_P(Reservation, IsKnownBeforeTheInstrumentedRun) {
  const auto found = profile_command(request(), [](const std::string&) {});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->exit_code, 0);
  if (found->metrics.contains("instructions_count")) GTEST_SKIP() << "this emulator keeps no records";
  EXPECT_TRUE(found->metrics.contains("wall_s"));
  ASSERT_FALSE(found->warnings.empty());
  EXPECT_EQ(found->warnings.back().code, "emulator-memory");
  EXPECT_THAT(found->warnings.back().message, HasSubstr("the program reserves " + std::to_string(terabytes())));
  EXPECT_THAT(found->warnings.back().advice, HasSubstr("the native part alone: perfcast profile"));
}

// Nobody knew: it is ended when it grows.
TEST_P(Reservation, EndsTheEmulator) {
  const auto found = QemuCollector().collect(request());
  if (found.ok()) GTEST_SKIP() << "this emulator keeps no records";
  EXPECT_EQ(found.end(), RunEnd::kMemory);
  EXPECT_EQ(found.error().code, "emulator-memory");
  EXPECT_THAT(found.error().message, HasSubstr("the emulator was ended"));
}

INSTANTIATE_TEST_SUITE_P(OfBothKinds, Reservation, testing::Values("reserve", "reserve-writable"));

}  // namespace
}  // namespace perfcast
