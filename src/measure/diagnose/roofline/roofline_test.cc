#include "measure/diagnose/roofline/roofline.h"

#include <gtest/gtest.h>

#include "measure/diagnose/roofline/testing/own_code.h"

namespace perfcast::measure {
namespace {

constexpr SeenWork kAll = {SeenWork::Basis::kWhole, 1};

MachineCeilings some_ceilings() {
  MachineCeilings ceilings;
  ceilings.cpus_count = 2;
  ceilings.compute = {{"avx512", "fp32", 16, 64e9, 100e9}, {"scalar", "fp32", 1, 4e9, 8e9}};
  ceilings.bandwidth = {{"L1", 1 << 14, 200e9, 400e9}, {"L2", 1 << 18, 50e9, 80e9}, {"memory", 1 << 26, 10e9, 12e9}};
  ceilings.one_cpu_additions_per_s = 12e9;
  ceilings.all_cpus_additions_per_s = 24e9;
  ceilings.one_cpu_product_flops_per_s = 50e9;
  return ceilings;
}

TEST(RooflineWords, SayWhatIsReachedAndWhatWouldBeAllowed) {
  RooflinePoint point;
  point.is_float = true;
  point.format = "fp64";
  point.operations_per_s = 3.1e9;
  point.operations_per_byte = 0.12;
  point.ceiling_per_s = 41e9;
  point.roofs = {{"L1", 24e9}, {"L2", 9e9}, {"memory", 1.2e9}};
  EXPECT_EQ(roofline_in_words(point),
            "reaches 3.1 of 41 GFLOP/s (fp64); 0.12 flops a byte: reading from L2 would allow 9");
  point.operations_per_byte.reset();
  point.roofs.clear();
  EXPECT_EQ(roofline_in_words(point), "reaches 3.1 of 41 GFLOP/s (fp64); it moves no bytes");
  EXPECT_EQ(point.roof_above(), nullptr);
}

TEST(RooflinePoint, CannotBeAboveALimit) {
  RooflinePoint point;
  point.operations_per_s = 10e9;
  EXPECT_FALSE(point.exceeds_a_limit());
  point.ceiling_per_s = 9e9;
  EXPECT_TRUE(point.exceeds_a_limit());
  point.ceiling_per_s = 41e9;
  point.roofs = {{"L1", 24e9}, {"memory", 1.2e9}};
  EXPECT_FALSE(point.exceeds_a_limit());
  point.roofs.front().allowed_per_s = 9e9;
  EXPECT_TRUE(point.exceeds_a_limit());
}

TEST(Roofline, HasNoPointsWithoutCounts) {
  Observation seen;
  seen.run.user_s = seen.run.wall_s = 1;
  HotFunction function;
  function.function = "f";
  function.library = "/no/such";
  function.cpu_share = 1;
  seen.functions = {function};
  const Roofline roofline = make_roofline(seen, {{}, kAll, {}, some_ceilings()});
  EXPECT_TRUE(roofline.points.empty());
  EXPECT_TRUE(roofline.narrow_loops.empty());
  EXPECT_TRUE(roofline.notes.empty());
}

#if defined(__x86_64__)

PERFCAST_FUNCTION(roof_of_saxpy,
                  "xor eax, eax\n"
                  "roof_of_saxpy_loop:\n"
                  "movss xmm0, [rsi+rax]\n"
                  "mulss xmm0, xmm1\n"
                  "addss xmm0, [rdi+rax]\n"
                  "movss [rdi+rax], xmm0\n"
                  "add rax, 4\n"
                  "cmp rax, rdx\n"
                  "jne roof_of_saxpy_loop\n"
                  "roof_of_saxpy_return:\n"
                  "ret\n");
extern "C" const char roof_of_saxpy_loop[];
extern "C" const char roof_of_saxpy_return[];

// A second in which 2 billion operations were done on 12 billion bytes, in runs of a million iterations.
struct RoofWorld {
  CodeMap code;
  OwnCode own;
  Observation seen;
  std::vector<ExecutedCode> executed;

  RoofWorld() {
    constexpr uint64_t kIterations = 1'000'000'000;
    own.add(roof_of_saxpy, roof_of_saxpy_loop, 1000);
    own.add(roof_of_saxpy_loop, roof_of_saxpy_return, kIterations);
    own.add(roof_of_saxpy_return, roof_of_saxpy_end, 1000);
    HotFunction function = own_function("roof_of_saxpy", roof_of_saxpy, roof_of_saxpy_end, code);
    function.cpu_share = 1;
    HotLoop loop;
    loop.address = own.file_address(roof_of_saxpy_loop, code);
    loop.instructions = code.instructions(function.library, loop.address,
                                          static_cast<uint64_t>(roof_of_saxpy_return - roof_of_saxpy_loop));
    loop.end = loop.instructions.back().address;
    loop.cpu_share = 1;
    function.loop = loop;
    seen.functions = {function};
    seen.run.wall_s = seen.run.user_s = 1;
    seen.samples_count = 1000;
    executed = {own.executed};
  }
};

TEST(Roofline, SetsAFunctionBesideTheMachine) {
  RoofWorld world;
  const Roofline roofline = make_roofline(world.seen, {world.executed, kAll, {}, some_ceilings()});
  ASSERT_EQ(roofline.points.size(), 1U);
  const RooflinePoint& point = roofline.points[0];
  EXPECT_TRUE(point.is_float);
  EXPECT_EQ(point.format, "fp32");
  EXPECT_NEAR(point.operations_per_s, 2e9, 1);
  ASSERT_TRUE(point.operations_per_byte);
  EXPECT_NEAR(*point.operations_per_byte, 1.0 / 6, 1e-6);
  EXPECT_EQ(point.ceiling_per_s, 64e9);
  ASSERT_EQ(point.roofs.size(), 3U);
  EXPECT_NEAR(point.roofs[0].allowed_per_s, 200e9 / 6, 1e5);
  EXPECT_NEAR(point.roofs[2].allowed_per_s, 10e9 / 6, 1e5);
  // Memory would not feed it.
  EXPECT_EQ(point.roof_above()->level, "L2");
}

TEST(Roofline, TakesTheRestToBeLikeWhatWasSeen) {
  RoofWorld world;
  const Roofline roofline =
      make_roofline(world.seen, {world.executed, {SeenWork::Basis::kModelled, 0.5}, {}, some_ceilings()});
  ASSERT_EQ(roofline.points.size(), 1U);
  EXPECT_NEAR(roofline.points[0].operations_per_s, 4e9, 1);
  ASSERT_EQ(roofline.notes.size(), 1U);
  EXPECT_EQ(
      roofline.notes[0],
      "what hot functions compute was counted in the first 50% of the work, by what a model of this core takes for "
      "it; the rest is taken to be like it");
}

TEST(Roofline, SaysNothingWhereNobodyKnowsHowMuchWasSeen) {
  RoofWorld world;
  const Roofline roofline = make_roofline(world.seen, {world.executed, SeenWork(), {}, some_ceilings()});
  EXPECT_TRUE(roofline.points.empty());
  ASSERT_EQ(roofline.narrow_loops.size(), 1U);
  EXPECT_FALSE(roofline.narrow_loops[0].is_counted);
  ASSERT_EQ(roofline.notes.size(), 1U);
  EXPECT_TRUE(roofline.notes[0].starts_with("no roofline: the instrumented run was ended early"));
}

TEST(Roofline, KnowsLoopsThatAreNarrowerThanTheMachine) {
  RoofWorld world;
  const Roofline roofline = make_roofline(world.seen, {world.executed, kAll, {}, some_ceilings()});
  ASSERT_EQ(roofline.narrow_loops.size(), 1U);
  const NarrowLoop& loop = roofline.narrow_loops[0];
  EXPECT_TRUE(loop.is_counted);
  EXPECT_EQ(loop.isa, "avx512");
  EXPECT_EQ(loop.possible_bits, 512U);
  EXPECT_EQ(loop.operations_count, 2e9);
  EXPECT_EQ(loop.bytes, 12e9);
  EXPECT_EQ(loop.trips_count, 1e6);
  // 12 GB in a second come from nowhere farther than L2, and would take it .24 s.
  EXPECT_EQ(loop.limited_by, "L2");
  EXPECT_NEAR(loop.limit_s, 12.0 / 50, 1e-9);
}

TEST(Roofline, TakesTheMemoryThatFeedsALoopFromMisses) {
  RoofWorld world;
  const auto limited = [&](const MemoryTraffic& traffic) {
    return make_roofline(world.seen, {world.executed, kAll, traffic, some_ceilings()}).narrow_loops.at(0);
  };
  const NarrowLoop near = limited({true, 0, 0, 0});
  EXPECT_EQ(near.limited_by, "arithmetic");
  EXPECT_NEAR(near.limit_s, 2e9 / 32e9, 1e-9);
  const NarrowLoop far = limited({true, 5e9, 0, 6e9});
  EXPECT_EQ(far.limited_by, "memory");
  EXPECT_NEAR(far.limit_s, 5.0 / 50 + 6.0 / 10, 1e-9);
}

TEST(Roofline, OfParallelProgramsTakesRoofsOfBusyCpus) {
  RoofWorld world;
  world.seen.run.user_s = 2;
  const Roofline roofline = make_roofline(world.seen, {world.executed, kAll, {}, some_ceilings()});
  EXPECT_TRUE(roofline.runs_in_parallel);
  ASSERT_EQ(roofline.points.size(), 1U);
  EXPECT_EQ(roofline.points[0].ceiling_per_s, 50e9);
  EXPECT_NEAR(roofline.points[0].operations_per_s, 1e9, 1);
}

#endif

}  // namespace
}  // namespace perfcast::measure
