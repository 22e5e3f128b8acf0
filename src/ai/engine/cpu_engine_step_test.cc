#include "ai/engine/cpu_engine_step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/engine/testing/test_engine.h"

namespace perfcast::ai {
namespace {

using engine_test::cpu;
using engine_test::cpu_work;

CpuFacts cpu_of(int64_t family, int64_t model, std::set<std::string> flags, int64_t stepping = 0) {
  CpuFacts facts = cpu();
  facts.vendor = family == 6 ? "Intel" : "AMD";
  facts.cpu_family = family;
  facts.model = model;
  facts.stepping = stepping;
  facts.flags = std::move(flags);
  return facts;
}

TEST(CpuEngineMachine, OneNodeAndItsCoresButOne) {
  const auto machine = cpu_engine_machine(cpu(), Precision::kFp16, 1);
  ASSERT_TRUE(machine) << to_text(machine.error());
  EXPECT_EQ(machine->threads, 4);
  EXPECT_FALSE(machine->has_one_core);
  EXPECT_DOUBLE_EQ(machine->memory_bytes_per_s, 50e9);
  EXPECT_DOUBLE_EQ(machine->level1_bytes_per_s, 130e9);
  EXPECT_EQ(machine->path, CpuPath::kPlain);
  EXPECT_EQ(machine->products_per_cycle, 16);
  EXPECT_DOUBLE_EQ(machine->clock_hz, 3.4e9);
  const auto both = cpu_engine_machine(cpu(), Precision::kFp16, 2);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->threads, 8);
  EXPECT_DOUBLE_EQ(both->memory_bytes_per_s, 100e9);
  CpuFacts small = cpu();
  small.cores = 2;
  small.vcpus = 4;
  EXPECT_EQ(cpu_engine_machine(small, Precision::kFp16, 1)->threads, 1);
  EXPECT_TRUE(cpu_engine_machine(small, Precision::kFp16, 1)->has_one_core);
}

TEST(CpuEngineMachine, PathsByDesignFlagsAndFormat) {
  const auto path = [](const CpuFacts& facts, Precision precision) {
    const CpuEngineMachine machine = cpu_engine_machine_of(facts, precision, 1);
    return std::pair(std::string(name_of(machine.path)), machine.products_per_cycle);
  };
  using Path = std::pair<std::string, double>;
  const CpuFacts sapphire = cpu_of(6, 143, {"avx2", "avx512f", "amx"});
  EXPECT_EQ(path(sapphire, Precision::kBf16), Path("AMX", 1024));
  EXPECT_EQ(path(sapphire, Precision::kFp16), Path("plain", 16));
  EXPECT_EQ(path(cpu_of(6, 143, {"avx2", "avx512f"}), Precision::kBf16), Path("bf16", 64));  // AMX is hidden
  EXPECT_EQ(path(cpu_of(6, 85, {"avx512f"}, 7), Precision::kBf16), Path("plain", 32));
  EXPECT_EQ(path(cpu_of(6, 85, {"avx512f"}, 11), Precision::kBf16), Path("bf16", 64));
  EXPECT_EQ(cpu_engine_design(cpu_of(6, 85, {}, 11)), "cooper-lake");
  EXPECT_EQ(path(cpu_of(25, 17, {"avx512f"}), Precision::kBf16), Path("bf16", 32));
  EXPECT_EQ(path(cpu_of(6, 9999, {"avx512f", "amx"}), Precision::kBf16), Path("AMX", 1024));
  EXPECT_EQ(path(cpu_of(6, 9999, {"avx2"}), Precision::kBf16), Path("plain", 16));
  CpuFacts arm = cpu();
  arm.arch = "aarch64";
  arm.name = "Neoverse-V2";
  EXPECT_EQ(path(arm, Precision::kBf16), Path("bf16", 64));
  EXPECT_EQ(usual_cpu_precision(arm), Precision::kBf16);
  EXPECT_EQ(usual_cpu_precision(cpu()), Precision::kFp16);
  EXPECT_EQ(usual_cpu_precision(sapphire), Precision::kBf16);
}

TEST(CpuEngineMachine, Errors) {
  EXPECT_EQ(cpu_engine_machine(cpu(), Precision::kInt8, 1).error().code, "unsupported-precision");
  EXPECT_EQ(cpu_engine_machine(cpu(), Precision::kBf16, 3).error().message,
            "3 processes are more than AMD EPYC 7763 64-Core Processor has NUMA nodes: each takes one");
  CpuFacts unknown = cpu();
  unknown.read_bytes_per_s = unknown_bandwidth();
  EXPECT_EQ(cpu_engine_machine(unknown, Precision::kBf16, 1).error().code, "unknown-bandwidth");
  unknown.vcpus = 0;
  EXPECT_EQ(cpu_engine_machine(unknown, Precision::kBf16, 1).error().code, "bad-cpu-facts");
}

CpuEngineConstants round_constants() {
  CpuEngineConstants c;
  c.plain_product_share = 0.5;
  c.plain_core_gb_per_s = 10;
  c.memory_bandwidth_share = 0.8;
  c.overlap_exponent = 1;
  c.product_thread_loss = 0;
  c.attention_ratio = 2;
  c.activation_ns = 4;
  c.activation_thread_gain = 0.5;
  c.barrier_us = 100;
  c.barrier_thread_exponent = 0.5;
  c.host_ms = 3;
  c.sort_ns = 40;
  c.slowness_exponent = 1;
  c.one_core_ratio = 2;
  c.http_ms = 7;
  return c;
}

TEST(CpuEngineStep, PartsByHand) {
  const CpuEngineMachine machine = cpu_engine_machine_of(cpu(), Precision::kFp16, 1);
  const CpuEngineTimes times = cpu_engine_times(round_constants(), machine, cpu_work(), true, 100);
  EXPECT_DOUBLE_EQ(times.token.core_s, 0.01);     // 400 MB over 4 threads of 10 GB/s
  EXPECT_DOUBLE_EQ(times.token.memory_s, 0.01);   // ... over 0.8 of 50 GB/s
  EXPECT_DOUBLE_EQ(times.token.weights_s, 0.02);  // one after the other
  EXPECT_EQ(times.token.products_s, 0);
  EXPECT_DOUBLE_EQ(times.token.activations_s, 10 * 1000 * 4e-9 / 2);
  EXPECT_DOUBLE_EQ(times.token.barriers_s, 10 * 100e-6 * 2);
  EXPECT_DOUBLE_EQ(times.token.host_s, 3e-3);
  EXPECT_DOUBLE_EQ(times.token.sort_s, 50000 * 40e-9);
  EXPECT_DOUBLE_EQ(times.further_s(), 0.02 + 20e-6 + 2e-3 + 3e-3 + 2e-3);
  // 4 threads of 16 products at 3.4 GHz, half of them.
  EXPECT_DOUBLE_EQ(times.first.products_s, (100 * 150e6 + 50e6) / 108.8e9);
  EXPECT_DOUBLE_EQ(times.first.attention_s, 2 * 100 * 50 * 20e3 / 108.8e9);
  EXPECT_DOUBLE_EQ(times.first.activations_s, 100 * 20e-6);
  EXPECT_DOUBLE_EQ(times.http_s, 7e-3);
  EXPECT_DOUBLE_EQ(times.first_s(), times.first.seconds + 7e-3);
  EXPECT_DOUBLE_EQ(cpu_engine_times(round_constants(), machine, cpu_work(), false, 100).further_s(),
                   times.further_s() - 2e-3);
}

TEST(CpuEngineStep, WhatSlowsTheHostAndWhatThreadsLose) {
  CpuEngineConstants constants = round_constants();
  CpuEngineMachine machine = cpu_engine_machine_of(cpu(), Precision::kFp16, 1);
  machine.level1_bytes_per_s = 65e9;
  EXPECT_DOUBLE_EQ(cpu_engine_slowness(constants, machine), 2);
  machine.level1_bytes_per_s = 1e12;  // siblings counted as cores
  EXPECT_DOUBLE_EQ(cpu_engine_slowness(constants, machine), 130.0 / 230);
  machine.level1_bytes_per_s = 130e9;
  machine.has_one_core = true;
  EXPECT_DOUBLE_EQ(cpu_engine_slowness(constants, machine), 2);
  const double without = cpu_engine_step(constants, machine, cpu_work(), false, 100, 1, 50).products_s;
  constants.product_thread_loss = 0.5;
  EXPECT_DOUBLE_EQ(cpu_engine_step(constants, machine, cpu_work(), false, 100, 1, 50).products_s, 2 * without);
  constants.overlap_exponent = 2;
  EXPECT_DOUBLE_EQ(cpu_engine_step(constants, machine, cpu_work(), false, 1, 1, 50).weights_s, std::sqrt(2) * 0.01);
}

}  // namespace
}  // namespace perfcast::ai
