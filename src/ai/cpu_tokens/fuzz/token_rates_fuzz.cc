// Any two tables: no crash; what is read has valid facts and rates above 0. The input is the server table, a line
// "====", the table of rates.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ai/cpu_tokens/cpu_catalogue.h"
#include "ai/cpu_tokens/token_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kBorder = "\n====\n";
  const size_t border = input.find(kBorder);
  if (border == std::string_view::npos) return 0;
  TokenRatesText text;
  text.servers_csv = input.substr(0, border);
  text.rates_csv = input.substr(border + kBorder.size());
  if (const auto servers = parse_cpu_servers(text)) {
    for (const TokenServer& server : *servers) {
      if (!check_cpu_facts(server.facts)) std::abort();
    }
  }
  const auto rates = parse_token_rates(text);
  if (!rates) return 0;
  for (const TokenServer& server : rates->servers) {
    if (!check_cpu_facts(server.facts)) std::abort();
  }
  for (const TokenRate& rate : rates->rates) {
    if (!(rate.tokens_per_s > 0) || rate.server >= rates->servers.size()) std::abort();
  }
  for (const TokenPhase phase : kTokenPhases) token_cells(*rates, phase);
  const auto catalogue = CpuCatalogue::from_servers(rates->servers);
  for (const TokenServer& server : rates->servers) {
    CpuFacts unmeasured = server.facts;
    unmeasured.read_bytes_per_s = unknown_bandwidth();
    const auto imputed = catalogue.impute(unmeasured);
    if (has_bandwidth(server.facts) && !(imputed && has_bandwidth(*imputed))) std::abort();
  }
  return 0;
}
