#include "ai/llm/analysis.h"
#include "ai/llm/model_catalogue.h"
#include "base/json.h"
#include "base/report/table.h"
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
  return config.has_cache() ? 2.0 * static_cast<double>(config.cache_values_per_token() * config.attention_layers())
                            : 0;
}

// All columns, in the order of JSON.
ReportTable listed_table() {
  using enum Quantity;
  using Model = ListedModel;
  const auto count = [](const char* name, const char* title, auto LlmConfig::*of) {
    return ColumnOf<Model>(name, title, kCount, [of](const Model& model) { return model.config.*of; });
  };
  return table_of<Model>(
      "", listed_models(),
      {{"model", "model", kText, [](const Model& model) { return model.config.name; }},
       {"parameters", "parameters", kHuman, [](const Model& model) { return model.parameters.total; }},
       {"active_parameters", "active", kHuman, [](const Model& model) { return model.parameters.active; }},
       count("layers", "layers", &LlmConfig::layers),
       count("hidden", "width", &LlmConfig::hidden),
       count("heads", "heads", &LlmConfig::heads),
       {"kv_heads", "kv heads", kCount, [](const Model& model) { return model.config.kv_heads; },
        [](const Model& model) { return model.config.has_mla() ? "latent" : std::to_string(model.config.kv_heads); }},
       {"vocabulary", "vocabulary", kCount, [](const Model& model) { return model.config.vocab; },
        [](const Model& model) { return model.config.vocab > 0 ? std::to_string(model.config.vocab) : ""; }},
       count("max_positions", "positions", &LlmConfig::max_positions),
       {"kv_bytes_per_token", "cache/token", kBytes,
        [](const Model& model) { return static_cast<int64_t>(cache_bytes(model.config)); },
        [](const Model& model) {
          const double cache = cache_bytes(model.config);
          return cache > 0 ? human_bytes(cache) : "";
        }}});
}

}  // namespace

std::string model_list_text() { return rows_text(listed_table()); }

Json model_list_json() { return {{"schema", "perfcast.llm.models/1"}, {"models", rows_json(listed_table())}}; }

}  // namespace perfcast::ai
