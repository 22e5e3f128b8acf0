#include "machine/meter/nvml_meter.h"

#include <gmock/gmock.h>

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(NvmlMeter, TakesTheEnergyCounterWhereThereIsOne) {
  MeterSet set;
  find_nvml_meters(PERFCAST_FAKE_NVML_COUNTER, set);
  ASSERT_THAT(set.meters, SizeIs(1));
  const MeterFacts& facts = set.meters[0]->facts();
  EXPECT_EQ(facts.name, "nvml:0");
  EXPECT_EQ(facts.covers, "GPU 0, Example GPU, with its board");
  EXPECT_EQ(facts.scope, EnergyScope::kGpu);
  EXPECT_EQ(facts.reading, MeterReading::kEnergy);
  EXPECT_EQ(facts.unit, "mJ");
  const double first = **set.meters[0]->read();
  EXPECT_DOUBLE_EQ(**set.meters[0]->read(), first + 1);
  EXPECT_THAT(set.meters[0]->limited_by(), ElementsAre("its power limit"));  // being idle is no limit
  ASSERT_THAT(set.missing, SizeIs(1));
  EXPECT_EQ(set.missing[0].reason, "1 of 2 GPUs tell neither energy nor power");
}

TEST(NvmlMeter, SamplesPowerOtherwise) {
  MeterSet set;
  find_nvml_meters(PERFCAST_FAKE_NVML_POWER, set);
  ASSERT_THAT(set.meters, SizeIs(1));
  EXPECT_EQ(set.meters[0]->facts().reading, MeterReading::kPower);
  EXPECT_EQ(set.meters[0]->facts().unit, "mW");
  EXPECT_DOUBLE_EQ(**set.meters[0]->read(), 71.5);
}

TEST(NvmlMeter, SaysWhatIsMissing) {
  MeterSet set;
  find_nvml_meters("libno-such-nvml.so.1", set);
  find_nvml_meters("libm.so.6", set);  // a library that is something else
  EXPECT_THAT(set.meters, IsEmpty());
  ASSERT_THAT(set.missing, SizeIs(2));
  EXPECT_THAT(set.missing[0].reason, HasSubstr("can't be loaded: libno-such-nvml.so.1"));
  EXPECT_THAT(set.missing[1].reason, HasSubstr("libm.so.6 does not start"));
}

}  // namespace
}  // namespace perfcast
