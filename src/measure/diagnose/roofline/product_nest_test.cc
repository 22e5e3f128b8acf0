#include "measure/diagnose/roofline/product_nest.h"

#include <gtest/gtest.h>

#include "measure/diagnose/roofline/testing/own_code.h"

namespace perfcast::measure {
namespace {

#if defined(__x86_64__)

// Three loops, the innermost a sum of products of doubles: along a row of one matrix, down a column of the other.
PERFCAST_FUNCTION(nest_of_product,
                  "xor r8d, r8d\n"
                  "nest_of_product_outer:\n"
                  "xor r9d, r9d\n"
                  "nest_of_product_middle:\n"
                  "pxor xmm0, xmm0\n"
                  "xor eax, eax\n"
                  "nest_of_product_inner:\n"
                  "movsd xmm1, [rsi+8*rax]\n"
                  "mulsd xmm1, [rbx]\n"
                  "addsd xmm0, xmm1\n"
                  "add rbx, 800\n"
                  "inc rax\n"
                  "cmp rax, rdx\n"
                  "jne nest_of_product_inner\n"
                  "nest_of_product_inner_end:\n"
                  "movsd [rdi], xmm0\n"
                  "inc r9\n"
                  "cmp r9, rcx\n"
                  "jne nest_of_product_middle\n"
                  "nest_of_product_middle_end:\n"
                  "inc r8\n"
                  "cmp r8, r10\n"
                  "jne nest_of_product_outer\n"
                  "nest_of_product_outer_end:\n"
                  "ret\n");
extern "C" const char nest_of_product_outer[];
extern "C" const char nest_of_product_middle[];
extern "C" const char nest_of_product_inner[];
extern "C" const char nest_of_product_inner_end[];
extern "C" const char nest_of_product_middle_end[];
extern "C" const char nest_of_product_outer_end[];

constexpr uint64_t kRows = 40, kColumns = 100, kDepth = 60, kTimes = 5;

struct NestWorld {
  CodeMap code;
  OwnCode own;
  HotFunction function = own_function("nest_of_product", nest_of_product, nest_of_product_end, code);

  NestWorld() {
    own.add(nest_of_product, nest_of_product_outer, kTimes);
    own.add(nest_of_product_outer, nest_of_product_middle, kTimes * kRows);
    own.add(nest_of_product_middle, nest_of_product_inner, kTimes * kRows * kColumns);
    own.add(nest_of_product_inner, nest_of_product_inner_end, kTimes * kRows * kColumns * kDepth);
    own.add(nest_of_product_inner_end, nest_of_product_middle_end, kTimes * kRows * kColumns);
    own.add(nest_of_product_middle_end, nest_of_product_outer_end, kTimes * kRows);
    own.add(nest_of_product_outer_end, nest_of_product_end, kTimes);
    HotLoop loop;
    loop.address = own.file_address(nest_of_product_inner, code);
    loop.instructions = code.instructions(function.library, loop.address,
                                          static_cast<uint64_t>(nest_of_product_inner_end - nest_of_product_inner));
    loop.end = loop.instructions.back().address;
    loop.cpu_share = 0.9;
    set_streams(loop, 8 * kRows * kDepth, 8 * kColumns * kDepth);
    function.loop = loop;
  }
  static void set_streams(HotLoop& loop, uint64_t left_bytes, uint64_t right_bytes) {
    loop.streams = {{loop.instructions[0].address, 8, 0, 0x10000, 0x10000 + left_bytes, 500},
                    {loop.instructions[1].address, 8, 0, 0x900000, 0x900000 + right_bytes, 500}};
  }
  std::optional<ProductNest> nest(bool is_cut = false) {
    const ExecutedCounts counts({own.executed}, code);
    return product_nest(function, counts, code, is_cut);
  }
};

TEST(ProductNest, IsKnownByItsCountsAndAddresses) {
  NestWorld world;
  const auto nest = world.nest();
  ASSERT_TRUE(nest);
  EXPECT_EQ(nest->m, kRows);
  EXPECT_EQ(nest->n, kColumns);
  EXPECT_EQ(nest->k, kDepth);
  EXPECT_EQ(nest->times_count, kTimes);
  EXPECT_EQ(nest->flops_count, 2.0 * kTimes * kRows * kColumns * kDepth);
  EXPECT_EQ(nest->element_bits, 64U);
  EXPECT_FALSE(nest->is_convolution);
  EXPECT_EQ(nest->in_words(), "a product of matrices, M x N x K = 40 x 100 x 60");
}

// A tenth of the second product was done when the run was ended.
TEST(ProductNest, IsKnownFromARunThatWasCut) {
  NestWorld world;
  for (ExecutedBlock& block : world.own.executed.blocks)
    block.executions_count = block.executions_count == kTimes ? 2 : block.executions_count / kTimes * 11 / 10;
  EXPECT_FALSE(world.nest());
  const auto nest = world.nest(true);
  ASSERT_TRUE(nest);
  EXPECT_EQ(nest->m, kRows);
  EXPECT_EQ(nest->n, kColumns);
  EXPECT_EQ(nest->k, kDepth);
}

// The same loops over a matrix and a vector, again and again: one stream is the vector, no longer than the inner loop.
TEST(ProductNest, IsNoProductOfAMatrixAndAVector) {
  NestWorld world;
  NestWorld::set_streams(*world.function.loop, 8 * kDepth, 8 * kColumns * kDepth);
  EXPECT_FALSE(world.nest());
}

TEST(ProductNest, IsNotSaidOfAddressesThatNobodySaw) {
  NestWorld world;
  world.function.loop->streams.clear();
  EXPECT_FALSE(world.nest());
}

TEST(ProductNest, IsNotSaidOfShortLoops) {
  NestWorld world;
  for (ExecutedBlock& block : world.own.executed.blocks) {
    // Three columns.
    if (block.executions_count > kTimes * kRows) block.executions_count = block.executions_count / kColumns * 3;
  }
  NestWorld::set_streams(*world.function.loop, 8 * kRows * kDepth, uint64_t{8} * 3 * kDepth);
  EXPECT_FALSE(world.nest());
}

TEST(ProductNest, IsNotSaidWithoutCounts) {
  NestWorld world;
  world.own.executed.blocks.clear();
  EXPECT_FALSE(world.nest());
}

#endif

TEST(ProductNest, TakesALoop) {
  CodeMap code;
  EXPECT_FALSE(product_nest(HotFunction(), ExecutedCounts({}, code), code, false));
}

}  // namespace
}  // namespace perfcast::measure
