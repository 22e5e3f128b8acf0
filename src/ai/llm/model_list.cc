#include <fmt/format.h>

#include "ai/llm/analysis.h"
#include "ai/llm/model_catalogue.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

struct ListedModel {
  LlmConfig config;
  ParameterCount parameters;
};

std::vector<ListedModel> listed_models() {
  std::vector<ListedModel> models;
  for (const std::string& name : built_in_models()) {
    auto config = built_in_model(name);
    if (!config) continue;
    const auto parameters = count_parameters(*config);
    if (parameters) models.push_back({*std::move(config), *parameters});
  }
  return models;
}

// Keys and values of one token in all layers, at 16 bits.
double cache_bytes(const LlmConfig& config) {
  return config.has_cache() ? 2.0 * static_cast<double>(config.cache_values_per_token() * config.layers) : 0;
}

}  // namespace

std::string model_list_text() {
  using Align = TextTable::Align;
  TextTable table;
  table.add_column("model", Align::kLeft);
  for (const char* title :
       {"parameters", "active", "layers", "width", "heads", "kv heads", "vocabulary", "positions", "cache/token"}) {
    table.add_column(title, Align::kRight);
  }
  for (const auto& [config, parameters] : listed_models()) {
    const double cache = cache_bytes(config);
    table.add_row({config.name, human_number(static_cast<double>(parameters.total)),
                   human_number(static_cast<double>(parameters.active)), std::to_string(config.layers),
                   std::to_string(config.hidden), std::to_string(config.heads),
                   config.has_mla() ? "latent" : std::to_string(config.kv_heads),
                   config.vocab > 0 ? std::to_string(config.vocab) : "", std::to_string(config.max_positions),
                   cache > 0 ? human_bytes(cache) : ""});
  }
  return table.to_text();
}

Json model_list_json() {
  Json json{{"schema", "perfcast.llm.models/1"}, {"models", Json::array()}};
  for (const auto& [config, parameters] : listed_models()) {
    json["models"].push_back({{"model", config.name},
                              {"parameters", parameters.total},
                              {"active_parameters", parameters.active},
                              {"layers", config.layers},
                              {"hidden", config.hidden},
                              {"heads", config.heads},
                              {"kv_heads", config.kv_heads},
                              {"vocabulary", config.vocab},
                              {"max_positions", config.max_positions},
                              {"kv_bytes_per_token", static_cast<int64_t>(cache_bytes(config))}});
  }
  return json;
}

}  // namespace perfcast::ai
