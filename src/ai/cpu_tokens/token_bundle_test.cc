#include "ai/cpu_tokens/token_bundle.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/cpu_tokens/token_test_world.h"
#include "base/unknown.h"

namespace perfcast::ai {
namespace {

TokenBundle small_bundle() {
  const TokenRates rates = token_test::world();
  TokenFitOptions options;
  options.rounds = 5;
  options.depth = 3;
  TokenBundle bundle;
  bundle.card = sparecores_token_card();
  bundle.card.scores = {"generation: 1%"};
  bundle.card.generation_error_ratio = 0.01;
  bundle.cpus = CpuCatalogue::from_servers(rates.servers);
  for (TokenModel* model : {&bundle.prefill, &bundle.generation}) {
    const TokenPhase phase = model->phase();
    *model = *TokenModel::fit(phase, token_cells(rates, phase), rates.llms, options);
    model->measured_widths = {0.25, 0.5, kUnknown};
  }
  return bundle;
}

TEST(TokenBundle, TextAndBack) {
  const TokenBundle bundle = small_bundle();
  const std::string text = token_bundle_text(bundle);
  const auto back = parse_token_bundle(text, "t.json");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(token_bundle_text(*back), text);
  EXPECT_EQ(back->card.scores, bundle.card.scores);
  EXPECT_EQ(back->card.generation_error_ratio, 0.01);
  EXPECT_TRUE(std::isnan(back->card.prefill_error_ratio));  // not stated: older bundles
  EXPECT_NE(back->card.licence.find("CC BY-SA 4.0"), std::string::npos);
  EXPECT_EQ(back->generation.measured_widths[1], 0.5);
  EXPECT_TRUE(std::isnan(back->generation.measured_widths[2]));
  const auto cpu = back->cpus.find("AMD EPYC 7300", 8);
  ASSERT_TRUE(cpu);
  for (const TokenPhase phase : kTokenPhases) {
    const auto a = bundle.forecast(*cpu, benchmark_llms()[1].work, phase, 100);
    const auto b = back->forecast(*cpu, benchmark_llms()[1].work, phase, 100);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->tokens_per_s, b->tokens_per_s);
  }
}

TEST(TokenBundle, ImputesAndSaysSo) {
  const TokenBundle bundle = small_bundle();
  CpuFacts cpu = token_test::machine("AMD EPYC 7300", 8);
  cpu.read_bytes_per_s = unknown_bandwidth();
  const auto forecast = bundle.forecast(cpu, benchmark_llms()[1].work, TokenPhase::kPrefill, 100);
  ASSERT_TRUE(forecast);
  EXPECT_TRUE(forecast->bandwidth_imputed);
  EXPECT_TRUE(std::isnan(forecast->low));  // not calibrated
  cpu.arch = "riscv64";
  cpu.vendor = cpu.name = "Another";
  EXPECT_EQ(bundle.forecast(cpu, benchmark_llms()[1].work, TokenPhase::kPrefill, 100).error().code,
            "unknown-bandwidth");
}

TEST(TokenBundle, BadTexts) {
  const std::string text = token_bundle_text(small_bundle());
  const auto code = [](const std::string& input) {
    const auto bundle = parse_token_bundle(input, "t.json");
    return bundle ? std::string("none") : bundle.error().code;
  };
  EXPECT_EQ(code(""), "bad-json");
  EXPECT_EQ(code("[]"), "bad-bundle");
  EXPECT_EQ(code("{}"), "bad-bundle");
  EXPECT_EQ(code(text.substr(0, text.size() / 2)), "bad-json");
  const auto with = [&](const char* from, const char* to) {
    std::string changed = text;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos);
    return changed.replace(at, std::string(from).size(), to);
  };
  EXPECT_EQ(code(with("cpu-tokens/1", "cpu-tokens/2")), "future-version");
  EXPECT_EQ(code(with("cpu-tokens/1", "another/1")), "bad-bundle");
  EXPECT_EQ(code(with("\"licence\"", "\"x\"")), "bad-bundle");
  EXPECT_EQ(code(with("\"prefill\"", "\"x\"")), "bad-bundle");
  EXPECT_EQ(read_token_bundle("/nonexistent").error().code, "file-not-found");
}

// The bundle that ships.
TEST(TokenBundle, OfTheRepository) {
  const auto bundle = read_token_bundle(PERFCAST_SOURCE_DIR "/data/bundles/cpu-tokens.json");
  ASSERT_TRUE(bundle) << to_text(bundle.error());
  EXPECT_FALSE(bundle->card.scores.empty());
  const auto cpu = bundle->cpus.find("AMD EPYC 7763", 8);
  ASSERT_TRUE(cpu) << to_text(cpu.error());
  double before = INFINITY;
  for (const BenchmarkLlm& llm : benchmark_llms()) {
    const auto generation = bundle->forecast(*cpu, llm.work, TokenPhase::kGeneration, 128);
    const auto prefill = bundle->forecast(*cpu, llm.work, TokenPhase::kPrefill, 512);
    ASSERT_TRUE(generation && prefill);
    EXPECT_LT(generation->tokens_per_s, before);  // each model is larger than the one before
    EXPECT_LT(generation->low, generation->tokens_per_s);
    EXPECT_GT(generation->high, generation->tokens_per_s);
    EXPECT_GT(prefill->tokens_per_s, generation->tokens_per_s);
    before = generation->tokens_per_s;
  }
}

}  // namespace
}  // namespace perfcast::ai
