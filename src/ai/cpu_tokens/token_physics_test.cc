#include "ai/cpu_tokens/token_physics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/cpu_tokens/token_model.h"
#include "ai/cpu_tokens/token_test_world.h"
#include "base/random.h"

namespace perfcast::ai {
namespace {

TokenPhysics fitted(const TokenRates& rates, TokenPhase phase) {
  const std::vector<TokenCell> cells = token_cells(rates, phase);
  std::vector<TokenQuestion> questions;
  Eigen::VectorXd log_rates(static_cast<Eigen::Index>(cells.size()));
  for (size_t i = 0; i < cells.size(); ++i) {
    questions.push_back({&cells[i].facts, &rates.llms[cells[i].llm], cells[i].tokens});
    log_rates[static_cast<Eigen::Index>(i)] = cells[i].log_rate;
  }
  TokenPhysics physics(phase);
  physics.fit(questions, log_rates, Eigen::VectorXd::Ones(log_rates.size()));
  return physics;
}

TEST(TokenPhysics, FindsTheWorldThatObeysIt) {
  const TokenRates rates = token_test::world();
  for (const TokenPhase phase : kTokenPhases) {
    const TokenPhysics physics = fitted(rates, phase);
    for (const TokenRate& rate : rates.rates) {
      if (rate.phase != phase) continue;
      const CpuFacts& facts = rates.servers[rate.server].facts;
      const double forecast = std::exp(-physics.times({&facts, &rates.llms[rate.llm], rate.tokens}).total);
      EXPECT_NEAR(forecast / rate.tokens_per_s, 1, 0.06) << facts.name << facts.vcpus << to_string(phase);
    }
  }
}

// The loss must fall to that of a good optimum, which wrong gradients would miss: compare with small random steps.
TEST(TokenPhysics, NoSmallStepFitsBetter) {
  const TokenRates rates = token_test::world();
  for (const TokenPhase phase : kTokenPhases) {
    TokenPhysics physics = fitted(rates, phase);
    const auto loss = [&] {
      double sum = 0;
      for (const TokenRate& rate : rates.rates) {
        if (rate.phase != phase) continue;
        const TokenQuestion question = {&rates.servers[rate.server].facts, &rates.llms[rate.llm], rate.tokens};
        const double e = physics.times(question).total + std::log(rate.tokens_per_s);
        sum += 0.02 * (std::sqrt(1 + e * e / 0.01) - 1);
      }
      return sum;
    };
    const double least = loss();
    const Eigen::VectorXd best = physics.coefficients();
    Random random(3);
    for (int step = 0; step < 40; ++step) {
      Eigen::VectorXd moved = best;
      for (double& value : moved) value += 0.03 * random.normal();
      if (!physics.set_coefficients(moved)) continue;  // out of bounds
      EXPECT_GT(loss(), least * 0.98) << to_string(phase);
    }
  }
}

TEST(TokenPhysics, MoreBandwidthNeverMakesGenerationSlower) {
  Random random(7);
  for (int trial = 0; trial < 30; ++trial) {
    // Rates without any sense: the bounds must hold whatever is learnt.
    TokenRates rates = token_test::world();
    for (TokenRate& rate : rates.rates) rate.tokens_per_s *= std::exp(2 * random.normal());
    if (trial % 3 == 0) {
      for (TokenRate& rate : rates.rates) rate.tokens_per_s = 1e12 / memory_bandwidth(rates.servers[rate.server].facts);
    }
    const TokenPhysics physics = fitted(rates, TokenPhase::kGeneration);
    for (const BenchmarkLlm& llm : benchmark_llms()) {
      const CpuFacts slow = token_test::machine("AMD EPYC 7000", 8);
      for (size_t from = 0; from < kBandwidthBytes.size(); ++from) {
        CpuFacts fast = slow;  // faster from a size on
        for (size_t i = from; i < kBandwidthBytes.size(); ++i) fast.read_bytes_per_s[i] *= 1.7;
        EXPECT_LE(physics.times({&fast, &llm.work, 128}).total, physics.times({&slow, &llm.work, 128}).total + 1e-9);
      }
    }
    if (trial >= 6) break;
  }
}

TEST(TokenPhysics, MoreWorkTakesLonger) {
  const TokenRates rates = token_test::world();
  const CpuFacts cpu = token_test::machine("AMD EPYC 7000", 8);
  const TokenPhysics generation = fitted(rates, TokenPhase::kGeneration), prefill = fitted(rates, TokenPhase::kPrefill);
  LlmWork more = benchmark_llms()[2].work;
  const LlmWork less = more;
  more.weight_bytes *= 2;
  more.prefill_macs_per_token *= 2;
  EXPECT_GT(generation.times({&cpu, &more, 16}).total, generation.times({&cpu, &less, 16}).total);
  EXPECT_GT(generation.times({&cpu, &less, 4096}).total, generation.times({&cpu, &less, 16}).total);
  EXPECT_GT(prefill.times({&cpu, &more, 16}).total, prefill.times({&cpu, &less, 16}).total);
  EXPECT_GT(prefill.times({&cpu, &less, 16384}).total, prefill.times({&cpu, &less, 512}).total);
}

TEST(TokenPhysics, BandwidthBound) {
  CpuFacts cpu = token_test::machine("AMD EPYC 7000", 8);
  LlmWork llm = benchmark_llms()[2].work;
  llm.weight_bytes = 8 * 512e6;  // 512 MB for each vCPU
  EXPECT_DOUBLE_EQ(bandwidth_bound(cpu, llm), cpu.read_bytes_per_s[10] / llm.weight_bytes);
  llm.weight_bytes = 8 * 4e6;
  EXPECT_DOUBLE_EQ(bandwidth_bound(cpu, llm), cpu.read_bytes_per_s[4] / llm.weight_bytes);
}

TEST(TokenPhysics, CoefficientsAreChecked) {
  TokenPhysics physics(TokenPhase::kPrefill);
  const Eigen::VectorXd good = physics.coefficients();
  EXPECT_TRUE(physics.set_coefficients(good));
  EXPECT_FALSE(physics.set_coefficients(good.head(3)));
  Eigen::VectorXd bad = good;
  bad[4] = NAN;
  EXPECT_FALSE(physics.set_coefficients(bad));
  bad = good;
  bad[1] = -0.1;  // slower with more bandwidth of level 1
  EXPECT_FALSE(physics.set_coefficients(bad));
}

}  // namespace
}  // namespace perfcast::ai
