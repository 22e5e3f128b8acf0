#include "measure/diagnose/roofline/function_work.h"

#include <gtest/gtest.h>

#include "measure/diagnose/roofline/testing/own_code.h"

namespace perfcast::measure {
namespace {

#if defined(__x86_64__)

PERFCAST_FUNCTION(work_of_saxpy,
                  "xor eax, eax\n"
                  "work_of_saxpy_loop:\n"
                  "movss xmm0, [rsi+rax]\n"
                  "mulss xmm0, xmm1\n"
                  "addss xmm0, [rdi+rax]\n"
                  "movss [rdi+rax], xmm0\n"
                  "add rax, 4\n"
                  "cmp rax, rdx\n"
                  "jne work_of_saxpy_loop\n"
                  "work_of_saxpy_copy:\n"
                  "rep movsb\n"
                  "work_of_saxpy_return:\n"
                  "ret\n");
extern "C" const char work_of_saxpy_loop[];
extern "C" const char work_of_saxpy_copy[];
extern "C" const char work_of_saxpy_return[];

// Entered 3 times, 1000 iterations in all; 3 copies of 50 bytes.
ExecutedCode executed_saxpy() {
  OwnCode own;
  own.add(work_of_saxpy, work_of_saxpy_loop, 3);
  // The first iteration belongs to the block that falls into the loop.
  own.add(work_of_saxpy_loop, work_of_saxpy_copy, 1000);
  own.add(work_of_saxpy_copy, work_of_saxpy_return, 3, 147);
  own.add(work_of_saxpy_return, work_of_saxpy_end, 3);
  return own.executed;
}

TEST(FunctionWork, IsWhatItsBlocksDidTimesHowOftenTheyRan) {
  CodeMap code;
  const HotFunction function = own_function("work_of_saxpy", work_of_saxpy, work_of_saxpy_end, code);
  const ExecutedCounts counts({executed_saxpy()}, code);
  ASSERT_TRUE(counts.knows(function.library));
  EXPECT_EQ(counts.executions(function.library, function.address), 3);
  const FunctionWork work = function_work(function, counts, code);
  EXPECT_EQ(work.instructions_count, 3 + 7 * 1000 + 3 + 3);
  EXPECT_EQ(work.fp32_flops_count, 2000);
  EXPECT_EQ(work.fp64_flops_count, 0);
  EXPECT_EQ(work.loaded_bytes, 8 * 1000 + 150 + 3 * 8);
  EXPECT_EQ(work.stored_bytes, 4 * 1000 + 150);
  EXPECT_EQ(work.flops_by_bits, (std::map<uint32_t, double>{{0, 2000}}));
}

TEST(FunctionWork, AddsUpProcessesByTheirWeight) {
  CodeMap code;
  const HotFunction function = own_function("work_of_saxpy", work_of_saxpy, work_of_saxpy_end, code);
  ExecutedCode many = executed_saxpy();
  many.weight = 10;
  const ExecutedCounts counts({executed_saxpy(), many}, code);
  FunctionWork work = function_work(function, counts, code);
  EXPECT_EQ(work.fp32_flops_count, 22000);
  work.scale(0.5);
  EXPECT_EQ(work.fp32_flops_count, 11000);
  EXPECT_EQ(work.flops_by_bits[0], 11000);
}

TEST(FunctionWork, OfBlocksWithinEachOtherIsCountedOnce) {
  CodeMap code;
  const HotFunction function = own_function("work_of_saxpy", work_of_saxpy, work_of_saxpy_end, code);
  OwnCode own;
  own.add(work_of_saxpy, work_of_saxpy_copy, 1);
  own.add(work_of_saxpy_loop, work_of_saxpy_copy, 9);
  const ExecutedCounts counts({own.executed}, code);
  const FunctionWork work = function_work(function, counts, code);
  EXPECT_EQ(work.fp32_flops_count, 20);
  EXPECT_EQ(work.instructions_count, 1 + 70);
  EXPECT_EQ(counts.pieces(function.library).size(), 1U);
}

#endif

TEST(FunctionWork, OfWhatDidNotRunIsNotKnown) {
  CodeMap code;
  HotFunction function;
  function.function = "f";
  function.library = "/no/such/file";
  function.bytes = 16;
  ExecutedCode executed;
  executed.mappings.push_back({0x1000, 0x2000, 0, "/no/such/file"});
  executed.blocks.push_back({0x1000, 4, 1, 0});
  executed.blocks.push_back({0x9000, 4, 1, 0});  // of no mapping
  const ExecutedCounts counts({executed}, code);
  EXPECT_FALSE(counts.knows("/no/such/file"));
  EXPECT_FALSE(function_work(function, counts, code).is_known());
  EXPECT_EQ(counts.executions("/no/such/file", 0x1000), 0);
}

}  // namespace
}  // namespace perfcast::measure
