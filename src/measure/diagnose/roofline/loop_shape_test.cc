#include "measure/diagnose/roofline/loop_shape.h"

#include <gtest/gtest.h>

#include <string_view>

namespace perfcast::measure {
namespace {

TEST(LoopShape, OfNothingIsNothing) {
  const LoopShape shape = loop_shape({});
  EXPECT_FALSE(shape.could_be_wider());
  EXPECT_EQ(shape.in_words(), "no arithmetic");
}

#if defined(__x86_64__)

// A loop from its label to its branch back.
#define PERFCAST_LOOP(name, text)                                                                               \
  __asm__(".pushsection .text\n.intel_syntax noprefix\n" #name "_begin:\n" text "\njne " #name "_begin\n" #name \
          "_end:\n.att_syntax\n.popsection\n");                                                                 \
  extern "C" const char name##_begin[];                                                                         \
  extern "C" const char name##_end[]
#define PERFCAST_SHAPE(name) \
  loop_shape(decode_instructions(CodeSet::kX86, {name##_begin, static_cast<size_t>(name##_end - name##_begin)}, 0x1000))

// y += a x, one float at a time.
PERFCAST_LOOP(shape_saxpy,
              "movss xmm0, [rsi+rax]\n"
              "mulss xmm0, xmm1\n"
              "addss xmm0, [rdi+rax]\n"
              "movss [rdi+rax], xmm0\n"
              "add rax, 4\n"
              "cmp rax, rdx");

TEST(LoopShape, SeesLoopsThatCouldBeWider) {
  const LoopShape shape = PERFCAST_SHAPE(shape_saxpy);
  EXPECT_TRUE(shape.is_counted);
  EXPECT_FALSE(shape.is_serial);
  EXPECT_FALSE(shape.has_float_sum);
  EXPECT_EQ(shape.flops_count, 2U);
  EXPECT_EQ(shape.element_bits, 32U);
  EXPECT_EQ(shape.register_bits, 0U);
  ASSERT_EQ(shape.accesses.size(), 2U);
  for (const LoopAccess& access : shape.accesses) {
    EXPECT_EQ(access.step_bytes, 4);
    EXPECT_TRUE(access.is_in_order);
  }
  EXPECT_TRUE(shape.could_be_wider());
  EXPECT_EQ(shape.in_words(), "one floating-point number of 32 bits at a time");
}

// A class's pixels, contrast, brightness and size are read again each time: the pixel that was written might be one of
// them.
PERFCAST_LOOP(shape_members,
              "mov rcx, [rdi]\n"
              "add rcx, rdx\n"
              "add rdx, 1\n"
              "movzx eax, byte ptr [rcx]\n"
              "imul eax, [rdi+16]\n"
              "sar eax, 7\n"
              "add al, [rdi+20]\n"
              "mov [rcx], al\n"
              "cmp rdx, [rdi+8]");

TEST(LoopShape, SeesWhatMightBeWrittenTo) {
  const LoopShape shape = PERFCAST_SHAPE(shape_members);
  EXPECT_EQ(shape.reloads_count, 4U);
  EXPECT_EQ(shape.element_bits, 32U);
  EXPECT_TRUE(shape.could_be_wider());
}

// The place that is read again is the one that is written.
PERFCAST_LOOP(shape_member_sum,
              "mov rax, [rdi]\n"
              "add rax, [rsi+rdx]\n"
              "mov [rdi], rax\n"
              "add rdx, 8\n"
              "cmp rdx, rcx");

TEST(LoopShape, SeesSumsInMemory) {
  const LoopShape shape = PERFCAST_SHAPE(shape_member_sum);
  EXPECT_EQ(shape.reloads_count, 0U);
  EXPECT_FALSE(shape.could_be_wider());
}

// y += a x by four, with pointers that step before they are used.
PERFCAST_LOOP(shape_vector,
              "add rsi, 16\n"
              "movups xmm0, [rsi-16]\n"
              "mulps xmm0, xmm1\n"
              "addps xmm0, [rdi]\n"
              "movups [rdi], xmm0\n"
              "add rdi, 16\n"
              "sub rcx, 1");

TEST(LoopShape, SeesRegistersOfHalfTheWidth) {
  const LoopShape shape = PERFCAST_SHAPE(shape_vector);
  EXPECT_EQ(shape.flops_count, 8U);
  EXPECT_EQ(shape.register_bits, 128U);
  EXPECT_TRUE(shape.could_be_wider());
  EXPECT_EQ(shape.in_words(), "4 floating-point numbers of 32 bits at a time, in registers of 128 bits");
}

PERFCAST_LOOP(shape_dot,
              "movsd xmm1, [rsi+8*rax]\n"
              "mulsd xmm1, [rdi+8*rax]\n"
              "addsd xmm0, xmm1\n"
              "inc rax\n"
              "cmp rax, rdx");
// A filter: what was computed is what the next one needs.
PERFCAST_LOOP(shape_filter,
              "mulsd xmm0, xmm1\n"
              "addsd xmm0, [rsi+8*rax]\n"
              "movsd [rdi+8*rax], xmm0\n"
              "inc rax\n"
              "cmp rax, rdx");
// x[i] += x[i - 1]
PERFCAST_LOOP(shape_running_sum,
              "movss xmm0, [rdi+rax-4]\n"
              "addss xmm0, [rdi+rax]\n"
              "movss [rdi+rax], xmm0\n"
              "add rax, 4\n"
              "cmp rax, rdx");

TEST(LoopShape, TellsSumsFromChains) {
  const LoopShape sum = PERFCAST_SHAPE(shape_dot);
  EXPECT_TRUE(sum.has_float_sum);
  EXPECT_FALSE(sum.is_serial);
  EXPECT_TRUE(sum.could_be_wider());
  EXPECT_TRUE(sum.multiplies && sum.adds && !sum.does_more);
  EXPECT_TRUE(PERFCAST_SHAPE(shape_filter).is_serial);
  EXPECT_TRUE(PERFCAST_SHAPE(shape_running_sum).is_serial);
}

// sum += table[index[i]]
PERFCAST_LOOP(shape_table,
              "mov eax, [rsi]\n"
              "addss xmm0, [rdi+4*rax]\n"
              "add rsi, 4\n"
              "cmp rsi, rdx");
// Of records of 24 bytes one field.
PERFCAST_LOOP(shape_records,
              "addsd xmm0, [rsi+8]\n"
              "add rsi, 24\n"
              "cmp rsi, rdx");
// A list.
PERFCAST_LOOP(shape_list,
              "addsd xmm0, [rsi+8]\n"
              "mov rsi, [rsi]\n"
              "test rsi, rsi");
// Two ways out.
PERFCAST_LOOP(shape_search,
              "add rsi, 4\n"
              "cmp [rsi-4], eax\n"
              "je shape_search_end\n"
              "cmp rsi, rdx");

TEST(LoopShape, LeavesAloneWhatIsNotInOrder) {
  EXPECT_FALSE(PERFCAST_SHAPE(shape_table).could_be_wider());
  EXPECT_FALSE(PERFCAST_SHAPE(shape_records).could_be_wider());
  const LoopShape list = PERFCAST_SHAPE(shape_list);
  EXPECT_TRUE(list.is_serial);
  EXPECT_FALSE(list.could_be_wider());
  EXPECT_FALSE(PERFCAST_SHAPE(shape_search).is_counted);
}

PERFCAST_LOOP(shape_count,
              "movzx ecx, byte ptr [rsi]\n"
              "add eax, ecx\n"
              "add rsi, 1\n"
              "cmp rsi, rdx");
PERFCAST_LOOP(shape_hash,
              "movzx ecx, byte ptr [rsi]\n"
              "xor eax, ecx\n"
              "imul eax, eax, 16777619\n"
              "add rsi, 1\n"
              "cmp rsi, rdx");

// Each number and the one behind it.
PERFCAST_LOOP(shape_stencil,
              "mov ecx, [rsi]\n"
              "add ecx, [rsi+4]\n"
              "mov [rdi], ecx\n"
              "add rsi, 4\n"
              "add rdi, 4\n"
              "cmp rsi, rdx");
PERFCAST_LOOP(shape_largest,
              "mov ecx, [rsi]\n"
              "cmp ecx, 7\n"
              "cmovl ecx, r8d\n"
              "add eax, ecx\n"
              "add rsi, 4\n"
              "cmp rsi, rdx");
PERFCAST_LOOP(shape_long_products,
              "mov ecx, [rsi]\n"
              "imul rcx, r9\n"
              "add rax, rcx\n"
              "add rsi, 4\n"
              "cmp rsi, rdx");

TEST(LoopShape, LeavesAloneWhatCompilersMayNotDo) {
  const LoopShape stencil = PERFCAST_SHAPE(shape_stencil);
  EXPECT_TRUE(stencil.is_counted);
  EXPECT_FALSE(stencil.is_serial);
  EXPECT_FALSE(stencil.could_be_wider());
  EXPECT_TRUE(PERFCAST_SHAPE(shape_largest).selects);
  EXPECT_FALSE(PERFCAST_SHAPE(shape_largest).could_be_wider());
  EXPECT_EQ(PERFCAST_SHAPE(shape_long_products).element_bits, 64U);
  EXPECT_FALSE(PERFCAST_SHAPE(shape_long_products).could_be_wider());
}

TEST(LoopShape, KnowsWholeNumbers) {
  const LoopShape sum = PERFCAST_SHAPE(shape_count);
  EXPECT_TRUE(sum.could_be_wider());
  EXPECT_FALSE(sum.has_float_sum);
  EXPECT_EQ(sum.operations_count, 1U);
  EXPECT_EQ(sum.element_bits, 8U);
  EXPECT_TRUE(PERFCAST_SHAPE(shape_hash).is_serial);
}

#endif

}  // namespace
}  // namespace perfcast::measure
