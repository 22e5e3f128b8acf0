#include "measure/diagnose/observe/instruction_work.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace perfcast::measure {
namespace {

CodeInstruction arm(uint32_t word) {
  const std::string bytes(reinterpret_cast<const char*>(&word), sizeof word);
  const auto all = decode_instructions(CodeSet::kArm, bytes, 0x1000);
  return all.empty() ? CodeInstruction() : all.front();
}

TEST(ArmWork, IsCounted) {
  const CodeInstruction fused = arm(0x1f420020);  // fmadd d0, d1, d2, d0
  EXPECT_EQ(fused.flops, 2U) << fused.text;
  EXPECT_EQ(fused.lanes, 1U);
  EXPECT_EQ(fused.element_bits, 64U);
  const CodeInstruction vector = arm(0x4e22cc20);  // fmla v0.4s, v1.4s, v2.4s
  EXPECT_EQ(vector.flops, 8U) << vector.text;
  EXPECT_EQ(vector.lanes, 4U);
  EXPECT_EQ(vector.element_bits, 32U);
  EXPECT_TRUE(vector.multiplies && vector.adds);
  const CodeInstruction load = arm(0x3dc00000);  // ldr q0, [x0]
  EXPECT_EQ(load.loaded_bytes, 16U) << load.text;
  EXPECT_EQ(load.memory.base, 0);
  EXPECT_EQ(arm(0xa9400440).loaded_bytes, 16U);  // ldp x0, x1, [x2]
  EXPECT_EQ(arm(0x39000020).stored_bytes, 1U);   // strb w0, [x1]
  const CodeInstruction step = arm(0x91004021);  // add x1, x1, #16
  EXPECT_TRUE(step.change.is_linear);
  EXPECT_EQ(step.change.target, 1);
  EXPECT_EQ(step.change.constant, 16);
}

#if defined(__x86_64__)

// Each between two labels of its own.
#define PERFCAST_CODE(name, text)                                                          \
  __asm__(".pushsection .text\n.intel_syntax noprefix\n" #name "_begin:\n" text "\n" #name \
          "_end:\n.att_syntax\n.popsection\n");                                            \
  extern "C" const char name##_begin[];                                                    \
  extern "C" const char name##_end[]
#define PERFCAST_DECODED(name) \
  decode_instructions(CodeSet::kX86, {name##_begin, static_cast<size_t>(name##_end - name##_begin)}, 0x1000)

PERFCAST_CODE(work_floats,
              "addsd xmm0, [rdi+8*rax+16]\n"
              "mulps xmm1, xmm2\n"
              "vfmadd231pd ymm0, ymm1, [rsi]\n"
              "vfmadd231ss xmm3, xmm4, xmm5\n"
              "vmulps zmm6, zmm7, zmm8\n"
              "fadd st(1)\n"
              "sqrtsd xmm9, xmm9\n"
              "movsd xmm0, [rdi]\n"
              "cvtsi2sd xmm0, eax\n"
              "andps xmm0, xmm1\n");

TEST(X86Work, CountsFlopsOfAllLanes) {
  const auto code = PERFCAST_DECODED(work_floats);
  ASSERT_EQ(code.size(), 10U);
  const std::vector<uint32_t> flops = {1, 4, 8, 2, 16, 1, 1, 0, 0, 0}, lanes = {1, 4, 4, 1, 16, 1, 1, 0, 0, 4},
                              bits = {64, 32, 64, 32, 32, 80, 64, 0, 0, 32};
  for (size_t i = 0; i < code.size(); ++i) {
    EXPECT_EQ(code[i].flops, flops[i]) << code[i].text;
    EXPECT_EQ(code[i].lanes, lanes[i]) << code[i].text;
    EXPECT_EQ(code[i].element_bits, bits[i]) << code[i].text;
  }
  EXPECT_TRUE(code[0].adds && !code[0].multiplies);
  EXPECT_TRUE(!code[1].adds && code[1].multiplies);
  EXPECT_TRUE(code[2].adds && code[2].multiplies);
}

PERFCAST_CODE(work_memory,
              "mov rax, [rdi+8*rcx-4]\n"
              "mov [rdi], ax\n"
              "add dword ptr [rsi+4], 1\n"
              "vmovups zmm0, [rdx]\n"
              "movss [rdx+rcx*4], xmm0\n"
              "lea rax, [rdi+8*rcx]\n"
              "push rbx\n"
              "pop rbx\n"
              "cmp byte ptr [rdi], 3\n"
              "rep movsq\n"
              "nop dword ptr [rax]\n"
              "prefetcht0 [rax]\n");

TEST(X86Work, CountsBytes) {
  const auto code = PERFCAST_DECODED(work_memory);
  ASSERT_EQ(code.size(), 12U);
  const std::vector<uint32_t> loaded = {8, 0, 4, 64, 0, 0, 0, 8, 1, 8, 0, 0},
                              stored = {0, 2, 4, 0, 4, 0, 8, 0, 0, 8, 0, 0};
  for (size_t i = 0; i < code.size(); ++i) {
    EXPECT_EQ(code[i].loaded_bytes, loaded[i]) << code[i].text;
    EXPECT_EQ(code[i].stored_bytes, stored[i]) << code[i].text;
    EXPECT_EQ(code[i].is_repeated, i == 9) << code[i].text;
  }
  EXPECT_TRUE(code[0].memory.is_there);
  EXPECT_EQ(code[0].memory.base, 7);
  EXPECT_EQ(code[0].memory.index, 1);
  EXPECT_EQ(code[0].memory.factor, 8);
  EXPECT_EQ(code[0].memory.constant, -4);
  EXPECT_FALSE(code[5].memory.is_there);
}

PERFCAST_CODE(work_registers,
              "add rax, 16\n"
              "sub rcx, rdx\n"
              "lea r8, [r9+4*r10+12]\n"
              "mov esi, edi\n"
              "shl rax, 3\n"
              "imul rax, rbx\n"
              "mov rax, [rax]\n"
              "inc r15\n"
              "movsxd rdx, edx\n"
              "xor eax, eax\n"
              "pxor xmm1, xmm1\n");

TEST(X86Work, KnowsHowRegistersStep) {
  const auto code = PERFCAST_DECODED(work_registers);
  ASSERT_EQ(code.size(), 11U);
  const auto is = [&](size_t i, int8_t target, int8_t first, int64_t first_factor, int8_t second, int64_t second_factor,
                      int64_t constant) {
    const RegisterChange& change = code[i].change;
    return change.is_linear && change.target == target && change.first == first &&
           change.first_factor == first_factor && change.second == second && change.second_factor == second_factor &&
           change.constant == constant;
  };
  EXPECT_TRUE(is(0, 0, 0, 1, kNoRegister, 0, 16)) << code[0].text;
  EXPECT_TRUE(is(1, 1, 1, 1, 2, -1, 0)) << code[1].text;
  EXPECT_TRUE(is(2, 8, 9, 1, 10, 4, 12)) << code[2].text;
  EXPECT_TRUE(is(3, 6, 7, 1, kNoRegister, 0, 0)) << code[3].text;
  EXPECT_TRUE(is(4, 0, 0, 8, kNoRegister, 0, 0)) << code[4].text;
  EXPECT_FALSE(code[5].change.is_linear);
  EXPECT_FALSE(code[6].change.is_linear);
  EXPECT_TRUE(is(7, 15, 15, 1, kNoRegister, 0, 1)) << code[7].text;
  EXPECT_TRUE(is(8, 2, 2, 1, kNoRegister, 0, 0)) << code[8].text;
  EXPECT_EQ(code[9].general_reads & 1U, 0U) << code[9].text;
  EXPECT_EQ(code[10].vector_reads, 0U) << code[10].text;
  EXPECT_EQ(code[10].vector_writes, 2U) << code[10].text;
}

#endif

}  // namespace
}  // namespace perfcast::measure
