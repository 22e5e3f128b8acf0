#include "ai/cpu_tokens/token_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/cpu_tokens/token_test_world.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

TEST(TokenCells, MedianOfServersOfOneSize) {
  TokenRates rates = token_test::world();
  for (TokenRate& rate : rates.rates) rate.tokens_per_s = rates.servers[rate.server].name.starts_with("a") ? 10 : 40;
  rates.servers[1].facts.read_bytes_per_s[0] *= 3;  // the second of the first size
  const auto cells = token_cells(rates, TokenPhase::kPrefill);
  // 10 CPU models x 4 sizes x 6 language models x 2 lengths
  ASSERT_EQ(cells.size(), 480U);
  for (const TokenCell& cell : cells) {
    EXPECT_DOUBLE_EQ(cell.log_rate, std::log(20));  // halfway in logarithms
    EXPECT_EQ(cell.rates, 2);
  }
  EXPECT_DOUBLE_EQ(cells[0].facts.read_bytes_per_s[0], 2 * rates.servers[0].facts.read_bytes_per_s[0]);
  std::vector<bool> use(rates.rates.size());
  use[0] = true;
  EXPECT_EQ(token_cells(rates, rates.rates[0].phase, use).size(), 1U);
}

Result<TokenModel> fit(TokenPhase phase, uint64_t seed = 1) {
  const TokenRates rates = token_test::world();
  TokenFitOptions options;
  options.rounds = 20;
  options.seed = seed;
  return TokenModel::fit(phase, token_cells(rates, phase), rates.llms, options);
}

TEST(TokenModel, SameSeedSameModelAndTheBundleIsIt) {
  for (const TokenPhase phase : kTokenPhases) {
    const auto a = fit(phase), b = fit(phase), other = fit(phase, 2);
    ASSERT_TRUE(a && b && other);
    EXPECT_EQ(a->to_json().dump(), b->to_json().dump());
    EXPECT_NE(a->to_json().dump(), other->to_json().dump());
    const auto back = TokenModel::from_json(a->to_json(), phase, "t");
    ASSERT_TRUE(back) << to_text(back.error());
    EXPECT_EQ(back->to_json().dump(), a->to_json().dump());
    const CpuFacts cpu = token_test::machine("AMD EPYC 7500", 6);
    for (const BenchmarkLlm& llm : benchmark_llms()) {
      EXPECT_EQ(a->log_rate({&cpu, &llm.work, 64}), back->log_rate({&cpu, &llm.work, 64}));
    }
  }
}

TEST(TokenModel, ForecastsAMachineOfAnotherSize) {
  for (const TokenPhase phase : kTokenPhases) {
    auto model = fit(phase);
    ASSERT_TRUE(model);
    model->measured_widths = {0.1, 0.2, 0.3};
    model->imputed_widths = {0.4, 0.5, 0.6};
    CpuFacts cpu = token_test::machine("AMD EPYC 7999", 12, 1.3);
    cpu.memory_gib = 16;
    for (const BenchmarkLlm& llm : benchmark_llms()) {
      const auto forecast = model->forecast(cpu, llm.work, 128);
      ASSERT_TRUE(forecast);
      EXPECT_NEAR(forecast->tokens_per_s * token_test::seconds(cpu, llm.work, phase, 128), 1, 0.15) << llm.column;
      EXPECT_NEAR(forecast->compute_share + forecast->memory_share + forecast->barrier_share, 1, 1e-12);
      EXPECT_EQ(forecast->fits_memory, llm.work.file_bytes < 17e9);
      const double widths[] = {0.1, 0.2, 0.3};
      EXPECT_NEAR(std::log(forecast->high / forecast->low), 2 * widths[llm_size_class(llm.work)], 1e-9);
    }
    cpu.bandwidth_imputed = true;
    const auto forecast = model->forecast(cpu, benchmark_llms()[0].work, 128);
    ASSERT_TRUE(forecast);
    EXPECT_TRUE(forecast->bandwidth_imputed);
    EXPECT_NEAR(std::log(forecast->high / forecast->tokens_per_s), 0.4, 1e-9);
  }
}

TEST(TokenModel, GenerationStaysBelowWhatTheBandwidthFeeds) {
  TokenRates rates = token_test::world();
  for (TokenRate& rate : rates.rates) rate.tokens_per_s *= 30;  // far above the bandwidth
  const auto model = TokenModel::fit(TokenPhase::kGeneration, token_cells(rates, TokenPhase::kGeneration), rates.llms,
                                     TokenFitOptions());
  ASSERT_TRUE(model);
  for (const TokenServer& server : rates.servers) {
    for (const LlmWork& llm : rates.llms) {
      const auto forecast = model->forecast(server.facts, llm, 16);
      ASSERT_TRUE(forecast);
      EXPECT_DOUBLE_EQ(forecast->bound_tokens_per_s, bandwidth_bound(server.facts, llm));
      EXPECT_LE(forecast->tokens_per_s, kBoundSlack * forecast->bound_tokens_per_s * (1 + 1e-12));
    }
  }
}

TEST(TokenModel, BadQuestions) {
  const auto model = fit(TokenPhase::kGeneration);
  ASSERT_TRUE(model);
  const CpuFacts cpu = token_test::machine("AMD EPYC 7500", 6);
  const LlmWork llm = benchmark_llms()[0].work;
  const auto code = [&](const CpuFacts& c, const LlmWork& l, int64_t tokens) {
    const auto forecast = model->forecast(c, l, tokens);
    return forecast ? "none" : forecast.error().code;
  };
  EXPECT_EQ(code(cpu, llm, 1), "none");
  EXPECT_EQ(code(cpu, llm, 0), "bad-tokens");
  EXPECT_EQ(code(cpu, llm, INT64_MAX), "bad-tokens");
  EXPECT_EQ(code(CpuFacts(), llm, 1), "bad-cpu-facts");
  EXPECT_EQ(code(cpu, LlmWork(), 1), "bad-llm-work");
  CpuFacts blind = cpu;
  blind.read_bytes_per_s = unknown_bandwidth();
  EXPECT_EQ(code(blind, llm, 1), "unknown-bandwidth");
  const auto empty = TokenModel::fit(TokenPhase::kPrefill, {}, {}, TokenFitOptions());
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, "too-few-rows");
}

TEST(TokenModel, BrokenTreesAreRefused) {
  const auto model = fit(TokenPhase::kGeneration);
  ASSERT_TRUE(model);
  const auto code = [&](auto&& spoil) {
    Json json = model->to_json();
    spoil(json);
    const auto back = TokenModel::from_json(json, TokenPhase::kGeneration, "t");
    return back ? std::string("none") : back.error().code;
  };
  EXPECT_EQ(code([](Json&) {}), "none");
  EXPECT_EQ(code([](Json& j) { j["trees"][0]["feature"].push_back(-1); }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) {
              j["trees"][0]["feature"].push_back(-1);  // one node too many
              j["trees"][0]["value"].push_back(0.5);
            }),
            "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j["trees"][0]["feature"][0] = 9999; }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j["trees"][0] = {{"feature", {3, -1}}, {"value", {1, 2}}}; }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j["trees"][0] = {{"feature", {3, -1, -1}}, {"value", {1, 2, 3}}}; }), "none");
  EXPECT_EQ(code([](Json& j) { j["features"][0] = "another"; }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j["coefficients"].erase("compute.amd"); }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j["coefficients"]["compute.amd"] = "1"; }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j["measured_log_half_width"] = {1, 2}; }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j["measured_log_half_width"] = {1, 2, -3}; }), "bad-bundle");
  EXPECT_EQ(code([](Json& j) { j.erase("trees"); }), "none");  // physics alone
}

}  // namespace
}  // namespace perfcast::ai
