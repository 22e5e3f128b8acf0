#include "ai/cpu_tokens/cpu_facts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/cpu_tokens/token_test_world.h"
#include "base/unknown.h"
#include "machine/facts/core_design.h"

namespace perfcast::ai {
namespace {

TEST(CpuFacts, NamesWithoutTradeMarksClockAndCores) {
  EXPECT_EQ(cpu_name_key_or_clock("AMD EPYC 7763 64-Core Processor"), "amd epyc 7763");
  EXPECT_EQ(cpu_name_key_or_clock("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz"), "intel xeon platinum 8375c");
  EXPECT_EQ(cpu_name_key_or_clock("INTEL(R) XEON(R) PLATINUM 8559C"),
            cpu_name_key_or_clock("Intel(R) Xeon(R) Platinum 8559C"));
  // The clock is all that tells these apart.
  EXPECT_EQ(cpu_name_key_or_clock("Intel(R) Xeon(R) CPU @ 2.20GHz"), "intel xeon 2.20ghz");
  EXPECT_EQ(cpu_name_key_or_clock(""), "");
}

TEST(CpuFacts, KeyTellsFamiliesOfOneNameApart) {
  CpuFacts facts = token_test::machine("Intel(R) Xeon(R) CPU @ 2.20GHz", 4);
  facts.cpu_family = 6;
  facts.model = 79;
  EXPECT_EQ(cpu_model_key(facts), "intel xeon 2.20ghz (6-79)");
  facts.model.reset();
  EXPECT_EQ(cpu_model_key(facts), "intel xeon 2.20ghz");
}

TEST(CpuFacts, DesignsAndTheirProducts) {
  CpuFacts facts = token_test::machine("AMD EPYC 7763 64-Core Processor", 4);
  EXPECT_EQ(core_design(facts), "zen3");
  EXPECT_EQ(int8_products_per_cycle(facts), 64);
  facts.vendor = "Intel";
  facts.cpu_family = 6;
  facts.model = 85;
  facts.stepping = 4;
  EXPECT_EQ(core_design(facts), "skylake-server");
  facts.stepping = 7;
  EXPECT_EQ(core_design(facts), "cascade-lake");
  CpuFacts arm;
  arm.arch = "aarch64";
  arm.name = "Neoverse-V2";
  EXPECT_EQ(core_design(arm), "neoverse-v2");
  EXPECT_EQ(int8_products_per_cycle(arm), 128);
  arm.name = "Something-New";
  EXPECT_EQ(core_design(arm), "unknown");
  EXPECT_EQ(int8_products_per_cycle(arm), 32);
  arm.flags = {"sve"};
  EXPECT_EQ(int8_products_per_cycle(arm), 64);
}

TEST(CpuFacts, BandwidthBetweenMeasuredSizes) {
  CpuFacts facts;
  EXPECT_FALSE(has_bandwidth(facts));
  EXPECT_TRUE(std::isnan(read_bandwidth(facts, 1e6)));
  facts.read_bytes_per_s[2] = 100;  // 1 MB
  EXPECT_FALSE(has_bandwidth(facts));
  facts.read_bytes_per_s[4] = 25;  // 4 MB; 2 MB is unknown
  ASSERT_TRUE(has_bandwidth(facts));
  EXPECT_DOUBLE_EQ(read_bandwidth(facts, 1e6), 100);
  EXPECT_DOUBLE_EQ(read_bandwidth(facts, 2e6), 50);
  EXPECT_DOUBLE_EQ(read_bandwidth(facts, 4e6), 25);
  EXPECT_DOUBLE_EQ(read_bandwidth(facts, 1), 100);
  EXPECT_DOUBLE_EQ(read_bandwidth(facts, 1e12), 25);
  EXPECT_DOUBLE_EQ(memory_bandwidth(facts), 25);
}

TEST(CpuFacts, NamesWhatIsWrong) {
  const CpuFacts good = token_test::machine("x", 4);
  EXPECT_TRUE(check_cpu_facts(good));
  const auto wrong = [&](auto&& spoil) {
    CpuFacts facts = good;
    spoil(facts);
    const Status status = check_cpu_facts(facts);
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(wrong([](CpuFacts& f) { f.vcpus = kUnknown; }), "the CPU's vcpus can't be used");
  EXPECT_EQ(wrong([](CpuFacts& f) { f.cores = 5; }), "the CPU's cores can't be used");
  EXPECT_EQ(wrong([](CpuFacts& f) { f.sockets = 0; }), "the CPU's sockets can't be used");
  EXPECT_EQ(wrong([](CpuFacts& f) { f.arch.clear(); }), "the CPU's arch can't be used");
  EXPECT_EQ(wrong([](CpuFacts& f) { f.read_bytes_per_s[3] = -1; }), "the CPU's read_bytes_per_s can't be used");
}

}  // namespace
}  // namespace perfcast::ai
