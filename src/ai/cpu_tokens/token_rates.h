#pragma once
// Measured tokens per second of language models on cloud servers: Spare Cores' tables, servers without GPUs.

#include <cstdint>
#include <string>
#include <vector>

#include "ai/cpu_tokens/cpu_facts.h"
#include "ai/cpu_tokens/llm_work.h"
#include "base/result.h"

namespace perfcast::ai {

enum class TokenPhase { kPrefill, kGeneration };
inline constexpr TokenPhase kTokenPhases[] = {TokenPhase::kPrefill, TokenPhase::kGeneration};
const char* to_string(TokenPhase phase);  // "prefill", "generation"

struct TokenServer {
  std::string vendor, name;  // of the cloud and its instance type
  std::string cpu;           // cpu_model_key
  CpuFacts facts;
};

struct TokenRate {
  size_t server = 0;  // index
  size_t llm = 0;     // index into TokenRates::llms
  TokenPhase phase = TokenPhase::kGeneration;
  int64_t tokens = 0;  // of the prompt, or to generate
  double tokens_per_s = 0;
};

struct TokenRates {
  std::vector<LlmWork> llms;
  std::vector<TokenServer> servers;  // with one rate at least, in the table's order
  std::vector<TokenRate> rates;
  struct Left {  // out, and why
    std::string subject, reason;
    int64_t count = 0;
  };
  std::vector<Left> left_out;
};

struct TokenRatesText {
  std::string servers_csv, rates_csv;
  std::string servers_path = "servers.csv", rates_path = "benchmarks_wide.csv";  // for messages
};

// Of servers with a GPU nothing is taken (the benchmark uses it), nor rates that are no number above 0, nor generation
// at several times what the memory could feed. Servers without a measured bandwidth stay, those without vCPUs go.
// Errors: "bad-csv", "missing-column".
Result<TokenRates> parse_token_rates(const TokenRatesText& text);
// Of servers.csv and benchmarks_wide.csv[.gz] in the folder.
Result<TokenRates> read_token_rates(const std::string& folder);

// Facts and bandwidth of all servers of the tables, with a GPU or without, with rates or without. The errors are the
// same.
Result<std::vector<TokenServer>> parse_cpu_servers(const TokenRatesText& text);
Result<std::vector<TokenServer>> read_cpu_servers(const std::string& folder);

}  // namespace perfcast::ai
