#include "ai/cpu_tokens/cpu_catalogue.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/cpu_tokens/token_test_world.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

TokenServer server(const std::string& cpu, double vcpus, double scale) {
  TokenServer entry{"c", cpu, "", token_test::machine(cpu, vcpus, scale)};
  entry.cpu = cpu_model_key(entry.facts);
  return entry;
}

TEST(CpuCatalogue, MediansOfOneSize) {
  const auto catalogue = CpuCatalogue::from_servers(
      {server("AMD EPYC 7763 64-Core Processor", 4, 1), server("AMD EPYC 7763 64-Core Processor", 4, 3),
       server("AMD EPYC 7763", 4, 2), server("AMD EPYC 7763 64-Core Processor", 16, 1)});
  ASSERT_EQ(catalogue.records().size(), 1U);
  const CpuRecord& record = catalogue.records()[0];
  EXPECT_EQ(record.facts.name, "AMD EPYC 7763 64-Core Processor");
  EXPECT_EQ(record.servers, 4);
  ASSERT_EQ(record.shapes.size(), 2U);
  EXPECT_EQ(record.shapes[0].servers, 3);
  EXPECT_DOUBLE_EQ(record.shapes[0].read_bytes_per_s[10], 2 * token_test::machine("", 4).read_bytes_per_s[10]);
}

TEST(CpuCatalogue, FindsByNameAndSize) {
  const auto catalogue =
      CpuCatalogue::from_servers({server("AMD EPYC 7763 64-Core Processor", 4, 1),
                                  server("AMD EPYC 7763 64-Core Processor", 16, 1), server("AMD EPYC 9R14", 8, 2)});
  const auto exact = catalogue.find("AMD EPYC 7763", 4);
  ASSERT_TRUE(exact) << to_text(exact.error());
  EXPECT_FALSE(exact->bandwidth_imputed);
  EXPECT_EQ(exact->cores, 2);
  EXPECT_EQ(exact->read_bytes_per_s, token_test::machine("", 4).read_bytes_per_s);
  // Between 4 and 16 on a line through the logarithms; this world's bandwidth grows with its cores.
  const auto between = catalogue.find("amd epyc 7763", 8);
  ASSERT_TRUE(between);
  EXPECT_TRUE(between->bandwidth_imputed);
  EXPECT_EQ(between->cores, 4);
  EXPECT_NEAR(memory_bandwidth(*between), memory_bandwidth(token_test::machine("", 8)), 1);
  // Fewer than any: their share. More: what the largest reads.
  EXPECT_NEAR(memory_bandwidth(*catalogue.find("AMD EPYC 7763", 2)), memory_bandwidth(token_test::machine("", 2)), 1);
  EXPECT_EQ(memory_bandwidth(*catalogue.find("AMD EPYC 7763", 64)), memory_bandwidth(token_test::machine("", 16)));
  EXPECT_EQ(catalogue.find("AMD EPYC 7763")->vcpus, 16);

  // A part that is in one name alone.
  EXPECT_EQ(catalogue.find("9r14")->name, "AMD EPYC 9R14");
  const auto several = catalogue.find("EPYC");
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().message, "EPYC is part of the names of 2 CPU models");

  const auto unknown = catalogue.find("AMD EPYC 7764", 4);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "unknown-cpu");
  EXPECT_NE(unknown.error().expected.find("AMD EPYC 7763"), std::string::npos);
  EXPECT_EQ(catalogue.find("AMD EPYC 7763", 0).error().code, "bad-vcpus");
  EXPECT_EQ(catalogue.find("").error().code, "unknown-cpu");
  const auto arm = CpuCatalogue::from_servers({server("Neoverse-N1", 4, 1)});
  EXPECT_EQ(arm.find("AWS Graviton2", 4)->name, "Neoverse-N1");  // the chip's core
  EXPECT_FALSE(arm.find("AWS Graviton3", 4));
}

TEST(CpuCatalogue, ImputesOfTheLikest) {
  TokenServer intel = server("Intel Xeon 1", 4, 10);
  intel.facts.vendor = "Intel";
  intel.facts.cpu_family = 6;
  intel.facts.model = 106;
  intel.cpu = cpu_model_key(intel.facts);
  const auto catalogue = CpuCatalogue::from_servers(
      {server("AMD EPYC 7A", 4, 1), server("AMD EPYC 7B", 4, 3), server("AMD EPYC 7B", 64, 9), intel});
  CpuFacts facts = token_test::machine("AMD EPYC 7C", 8);
  EXPECT_EQ(catalogue.impute(facts)->bandwidth_imputed, false);
  facts.read_bytes_per_s = unknown_bandwidth();
  const auto same_design = catalogue.impute(facts);
  ASSERT_TRUE(same_design);
  EXPECT_TRUE(same_design->bandwidth_imputed);
  EXPECT_NEAR(memory_bandwidth(*same_design), 2 * memory_bandwidth(token_test::machine("", 8)), 1);  // of 1 and 3
  facts.name = "AMD EPYC 7A";
  EXPECT_NEAR(memory_bandwidth(*catalogue.impute(facts)), memory_bandwidth(token_test::machine("", 8)), 1);
  facts.vendor = "Intel";
  facts.cpu_family = 6;
  facts.model = 999;  // unknown design: the vendor's
  EXPECT_NEAR(memory_bandwidth(*catalogue.impute(facts)), 10 * memory_bandwidth(token_test::machine("", 8)), 1);
  // Two channels of a data sheet's 8 GB/s; caches are as fast as others'.
  CpuFacts capped = facts;
  capped.most_memory_bytes_per_s = 8e9;
  EXPECT_DOUBLE_EQ(memory_bandwidth(*catalogue.impute(capped)), 0.725 * 8e9);
  EXPECT_EQ(catalogue.impute(capped)->read_bytes_per_s[0], catalogue.impute(facts)->read_bytes_per_s[0]);
  capped.most_memory_bytes_per_s = 8e15;
  EXPECT_EQ(catalogue.impute(capped)->read_bytes_per_s, catalogue.impute(facts)->read_bytes_per_s);
  facts.arch = "riscv64";
  EXPECT_EQ(catalogue.impute(facts).error().code, "unknown-bandwidth");
  EXPECT_EQ(catalogue.impute(CpuFacts()).error().code, "bad-cpu-facts");
}

TEST(CpuCatalogue, JsonAndBack) {
  const TokenRates rates = token_test::world();
  const auto catalogue = CpuCatalogue::from_servers(rates.servers);
  const auto back = CpuCatalogue::from_json(catalogue.to_json(), "t");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(back->to_json().dump(), catalogue.to_json().dump());
  EXPECT_EQ(back->records()[3].key, catalogue.records()[3].key);
  const auto code = [&](auto&& spoil) {
    Json json = catalogue.to_json();
    spoil(json);
    const auto result = CpuCatalogue::from_json(json, "t");
    return result ? std::string("none") : result.error().code;
  };
  EXPECT_EQ(code([](Json& j) { j = 5; }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j[0].erase("name"); }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j[0]["shapes"] = Json::array(); }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j[0]["shapes"][0].erase(3); }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j[0]["shapes"][0][0] = -1; }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j[0]["shapes"][0][8] = "fast"; }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j[0]["shapes"][0][8] = nullptr; }), "none");
  EXPECT_EQ(code([](Json& j) { j[0] = nullptr; }), "bad-bundle");
}

}  // namespace
}  // namespace perfcast::ai
