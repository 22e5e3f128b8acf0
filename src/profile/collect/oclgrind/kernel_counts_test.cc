#include "profile/collect/oclgrind/kernel_counts.h"

#include <gmock/gmock.h>

#include "profile/collect/oclgrind/plugin/address_counts.h"
#include "profile/collect/oclgrind/plugin/branch_history.h"
#include "profile/collect/oclgrind/plugin/line_cache.h"
#include "profile/collect/oclgrind/plugin/warps.h"

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string file_of(const std::string& kernels, const std::string& more = "") {
  return R"({"schema": "perfcast.oclgrind/1", "to_device": 2, "to_device_bytes": 100, "host_cpu_s": 0.5)" + more +
         R"(, "kernels": [)" + kernels + "]}";
}

std::string launch(int number, int instructions, int done = 4) {
  return R"({"launch": )" + std::to_string(number) + R"(, "global": [64,1,1], "local": [16,1,1], "groups": 4, )" +
         R"("groups_done": )" + std::to_string(done) + R"(, "counts": {"instructions": )" +
         std::to_string(instructions) + R"(, "groups": 4, "reuse": 3, "new": 1}, "aiwc": {"opcode": 7}})";
}

std::string kernel(const std::string& name, int launches, const std::string& counted) {
  return R"({"name": ")" + name + R"(", "launches": )" + std::to_string(launches) + R"(, "items": 640, "counted": [)" +
         counted + "]}";
}

TEST(KernelCounts, GiveTheMeanLaunch) {
  const auto counts =
      parse_kernel_counts(file_of(kernel("k", 10, launch(0, 100) + "," + launch(1, 200) + "," + launch(2, 500))), "f");
  ASSERT_TRUE(counts) << counts.error().message;
  ASSERT_EQ(counts->kernels.size(), 1u);
  const ProfileKernel& found = counts->kernels[0];
  EXPECT_EQ(found.launches_count, 10);
  EXPECT_EQ(found.work_items_count, 640);
  EXPECT_EQ(found.launches[2].stands_for_count, 8);
  EXPECT_THAT(found.launches[0].global_size, ElementsAre(64, 1, 1));
  // What the catalogue doesn't know is left out.
  EXPECT_THAT(found.metrics, ElementsAre(Pair("aiwc_unique_opcodes_count", 7), Pair("kernel_instructions_count", 430),
                                         Pair("kernel_reuse_ratio", 3), Pair("kernel_work_groups_count", 4)));
  EXPECT_THAT(run_metrics(*counts),
              ElementsAre(Pair("opencl_host_cpu_s", 0.5), Pair("opencl_kernel_instructions_count", 4300),
                          Pair("opencl_kernels_count", 1), Pair("opencl_launches_count", 10),
                          Pair("opencl_to_device_bytes", 100), Pair("opencl_to_device_count", 2)));
}

TEST(KernelCounts, StretchALaunchThatWasCut) {
  const auto counts = parse_kernel_counts(
      file_of(kernel("k", 1, launch(0, 100, 1)) + "," + kernel("l", 1, launch(0, 9, 0)), R"(, "cut": true)"), "f");
  ASSERT_TRUE(counts);
  EXPECT_THAT(counts->kernels[0].metrics,
              ElementsAre(Pair("kernel_instructions_count", 400), Pair("kernel_reuse_ratio", 3),
                          Pair("kernel_work_groups_count", 4)));
  EXPECT_TRUE(counts->kernels[1].launches.empty());
  EXPECT_FALSE(run_metrics(*counts).contains("opencl_kernel_instructions_count"));
}

// One group of four was done, with 100 instructions; the next one was cut after 90.
TEST(KernelCounts, LeaveThePartOfTheGroupThatWasCutOut) {
  std::string cut = launch(0, 190, 1);
  cut.insert(cut.find(R"("counts")"), R"("instructions_done": 100, )");
  const auto counts = parse_kernel_counts(file_of(kernel("k", 1, cut), R"(, "cut": true)"), "f");
  ASSERT_TRUE(counts);
  EXPECT_DOUBLE_EQ(counts->kernels[0].metrics.at("kernel_instructions_count"), 400);
}

TEST(KernelCounts, OfProcessesAddUp) {
  auto sum = *parse_kernel_counts(file_of(kernel("k", 2, launch(0, 100) + "," + launch(1, 100))), "f");
  join(sum, *parse_kernel_counts(file_of(kernel("k", 1, launch(0, 400)) + "," + kernel("l", 1, launch(0, 1))), "f"));
  ASSERT_EQ(sum.kernels.size(), 2u);
  EXPECT_EQ(sum.kernels[0].launches_count, 3);
  EXPECT_EQ(sum.kernels[0].launches[2].number, 2);
  EXPECT_EQ(sum.kernels[0].metrics.at("kernel_instructions_count"), 200);
  EXPECT_EQ(sum.counts.at("to_device_bytes"), 200);
}

TEST(KernelCounts, RefuseWhatIsWrong) {
  EXPECT_EQ(parse_kernel_counts("", "f").error().code, "bad-json");
  EXPECT_EQ(parse_kernel_counts("{}", "f").error().code, "bad-kernel-counts");
  EXPECT_EQ(parse_kernel_counts(R"({"schema": "perfcast.oclgrind/2"})", "f").error().code, "future-version");
  EXPECT_THAT(parse_kernel_counts(file_of(R"({"launches": 1})"), "f").error().message, HasSubstr("name"));
  EXPECT_THAT(parse_kernel_counts(file_of(kernel("k", 1, R"({"local": [1]})")), "f").error().message,
              HasSubstr("three whole numbers"));
}

// Thirty floats in a row, as a published row has them.
TEST(AddressCounts, GiveEntropiesAndFootprints) {
  kernels::AddressCounts counts(size_t{1} << 20);
  for (uint64_t i = 0; i < 30; ++i) counts.add(120 + 4 * i);
  const kernels::AddressFacts facts = counts.facts();
  EXPECT_EQ(facts.addresses, 30u);
  EXPECT_EQ(facts.addresses_of_90_percent, 27u);
  EXPECT_NEAR(facts.entropy_bits[0], 4.90689, 1e-5);
  EXPECT_NEAR(facts.entropy_bits[2], 4.90689, 1e-5);
  EXPECT_NEAR(facts.entropy_bits[3], 3.90689, 1e-5);
  EXPECT_NEAR(facts.entropy_bits[4], 2.97356, 1e-5);
  EXPECT_NEAR(facts.entropy_bits[5], 2.17356, 1e-5);
  EXPECT_NEAR(facts.entropy_bits[7], 0.353359, 1e-6);
  EXPECT_EQ(facts.entropy_bits[8], 0);
}

TEST(AddressCounts, SayWhenTheirMemoryEnds) {
  kernels::AddressCounts counts(size_t{1} << 16);
  for (uint64_t i = 0; i < 100; ++i) counts.add(i << 20);
  EXPECT_FALSE(counts.complete());
}

TEST(SectorSet, CountsEachSectorOnce) {
  kernels::SectorSet sectors;
  sectors.add(1, 0, 4);
  sectors.add(1, 28, 8);  // reaches into the next one
  sectors.add(2, 0, 4);
  EXPECT_EQ(sectors.sectors(), 3u);
  sectors.add(0, (uint64_t{1} << 48) - 4, 4);  // before a buffer: it is invalid, and takes no memory
  EXPECT_EQ(sectors.sectors(), 3u);
}

// Eight of 256 work items take a branch: a published row.
TEST(BranchHistory, IsThatOfThePublishedRows) {
  kernels::BranchHistory history;
  for (int i = 0; i < 256; ++i) history.add(i < 8);
  EXPECT_EQ(history.windows(), 241u);
  EXPECT_NEAR(history.yokota_bits(), 2.57288, 1e-5);
  EXPECT_NEAR(history.linear_sum() / 241, 0.0186722, 1e-7);
}

TEST(Warps, JoinNeighbours) {
  kernels::Warps warps;
  for (size_t i = 0; i < 64; ++i) {
    warps.begin_item(i);
    warps.global(0, 4 * i, 4);          // in a row: 4 sectors each
    warps.global(1, 1024 * i, 4);       // scattered: 32
    warps.local(2, 128 * (i % 32), 4);  // all in one bank
    warps.end_item(i < 32 ? 10 : i == 40 ? 100 : 0);
  }
  warps.end_group();
  EXPECT_EQ(warps.sums().accesses, 4u);
  EXPECT_EQ(warps.sums().transactions, 2u * (4 + 32));
  EXPECT_EQ(warps.sums().bytes, 4u * 128);
  EXPECT_EQ(warps.sums().local_accesses, 2u);
  EXPECT_EQ(warps.sums().local_passes, 64u);
  EXPECT_EQ(warps.sums().instructions, 420u);
  EXPECT_EQ(warps.sums().instructions_if_all, 32u * (10 + 100));
}

TEST(LineCache, ForgetsWhatIsUnusedLongest) {
  kernels::LineCache cache(8 << kernels::LineCache::kLineBits);  // one set of 8 ways
  for (uint64_t line = 0; line < 8; ++line) EXPECT_FALSE(cache.use(line));
  EXPECT_TRUE(cache.use(0));
  EXPECT_FALSE(cache.use(8));  // in the place of 1
  EXPECT_TRUE(cache.use(0));
  EXPECT_FALSE(cache.use(1));
}

}  // namespace
}  // namespace perfcast
