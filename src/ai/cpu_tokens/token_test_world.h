#pragma once
// An invented world of CPUs that obeys TokenPhysics' form, for tests: ten CPU models of several sizes.

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "ai/cpu_tokens/token_rates.h"

namespace perfcast::ai::token_test {

// Reads at 100 GB/s from level 1 on each core down to 5 GB/s of memory, times `scale`.
inline CpuFacts machine(const std::string& name, double vcpus, double scale = 1) {
  CpuFacts facts;
  facts.name = name;
  facts.arch = "x86_64";
  facts.vendor = "AMD";
  facts.cpu_family = 25;
  facts.model = 1;
  facts.flags = {"avx2", "sha"};
  facts.vcpus = vcpus;
  facts.cores = std::max(1.0, vcpus / 2);
  facts.l2_bytes = 524288;
  facts.l3_bytes = 32e6;
  facts.l3_count = 1;
  for (size_t i = 0; i < kBandwidthBytes.size(); ++i) {
    facts.read_bytes_per_s[i] = scale * facts.cores * 1e11 * std::pow(0.05, static_cast<double>(i) / 10);
  }
  return facts;
}

// Seconds per token: what the tests' models must find.
inline double seconds(const CpuFacts& facts, const LlmWork& llm, TokenPhase phase, double tokens) {
  const double l1 = facts.read_bytes_per_s[0] / facts.cores;
  if (phase == TokenPhase::kPrefill) {
    return llm.prefill_macs_per_token / (facts.cores * 0.3 * l1) +
           static_cast<double>(llm.layers) * 60e-6 / std::min(tokens, 512.0);
  }
  return llm.weight_bytes / (facts.cores * 0.1 * l1) + llm.weight_bytes / memory_bandwidth(facts) +
         static_cast<double>(llm.layers) * 20e-6;
}

inline TokenRates world() {
  TokenRates rates;
  for (const BenchmarkLlm& llm : benchmark_llms()) rates.llms.push_back(llm.work);
  for (int cpu = 0; cpu < 10; ++cpu) {
    for (const double vcpus : {2.0, 4.0, 8.0, 16.0}) {
      for (const char* name : {"a", "b"}) {
        TokenServer server;
        server.vendor = "cloud";
        server.name = fmt::format("{}{}.{}", name, cpu, vcpus);
        server.facts = machine(fmt::format("AMD EPYC 7{}00 16-Core Processor", cpu), vcpus, 1 + 0.15 * cpu);
        server.cpu = cpu_model_key(server.facts);
        for (size_t llm = 0; llm < rates.llms.size(); ++llm) {
          for (const TokenPhase phase : kTokenPhases) {
            for (const int64_t tokens : {16, 128}) {
              const double rate = 1 / seconds(server.facts, rates.llms[llm], phase, static_cast<double>(tokens));
              rates.rates.push_back({rates.servers.size(), llm, phase, tokens, rate});
            }
          }
        }
        rates.servers.push_back(server);
      }
    }
  }
  return rates;
}

}  // namespace perfcast::ai::token_test
