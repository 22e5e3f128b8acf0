#include "ai/cpu_tokens/token_bundle.h"

#include <cmath>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr std::string_view kSchema = "perfcast.cpu-tokens/";
constexpr const char* kVersion = "1";
constexpr size_t kMaximumBytes = size_t{64} << 20;

// One line for each member and each CPU model: a file that a person can look into, without a line for each number.
std::string lines(const Json& json) {
  std::string text = "{\n";
  size_t left = json.size();
  for (const auto& [key, value] : json.items()) {
    text += Json(key).dump() + ": ";
    if (value.is_array() && !value.empty()) {
      text += "[\n";
      for (size_t i = 0; i < value.size(); ++i) text += value[i].dump() + (i + 1 < value.size() ? ",\n" : "]");
    } else {
      text += value.dump();
    }
    text += --left > 0 ? ",\n" : "\n";
  }
  return text + "}\n";
}

}  // namespace

TokenCard sparecores_token_card() {
  TokenCard card;
  card.purpose =
      "Tokens/s of quantised language models (4 to 5 bits a weight) under llama.cpp on CPUs without GPUs, one thread "
      "for each physical core, one request at a time: prefill and generation.";
  card.data = "Spare Cores inspector data, https://github.com/SpareCores/sc-inspector-data";
  card.licence = "CC BY-SA 4.0; whoever passes this file on, changed or not, does so under the same licence";
  card.attribution = "Benchmarks of cloud servers by Spare Cores (sparecores.com)";
  card.limits =
      "Learnt from five language models of 0.1 to 70 billion weights. The benchmark skips what is slow: few rates "
      "below "
      "1 token/s. Machines without a spare hardware thread run small models very unsteadily.";
  return card;
}

Result<TokenForecast> TokenBundle::forecast(const CpuFacts& cpu, const LlmWork& llm, TokenPhase phase,
                                            int64_t tokens) const {
  const auto facts = cpus.impute(cpu);
  if (!facts) return facts.error();
  return model(phase).forecast(*facts, llm, tokens);
}

std::string token_bundle_text(const TokenBundle& bundle) {
  Json json;
  json["schema"] = std::string(kSchema) + kVersion;
  json["card"] = {{"purpose", bundle.card.purpose}, {"data", bundle.card.data},
                  {"licence", bundle.card.licence}, {"attribution", bundle.card.attribution},
                  {"limits", bundle.card.limits},   {"scores", bundle.card.scores}};
  const auto state = [&card = json["card"]](const char* name, double ratio) {
    if (!std::isnan(ratio)) card[name] = std::round(ratio * 1e4) / 1e4;
  };
  state("generation_error_ratio", bundle.card.generation_error_ratio);
  state("prefill_error_ratio", bundle.card.prefill_error_ratio);
  json["generation"] = bundle.generation.to_json();
  json["prefill"] = bundle.prefill.to_json();
  json["cpus"] = bundle.cpus.to_json();
  return lines(json);
}

Result<TokenBundle> parse_token_bundle(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const std::string schema = in.string("schema");
  const Json* card_json = in.require_object("card");
  const Json* generation_json = in.require_object("generation");
  const Json* prefill_json = in.require_object("prefill");
  const Json* cpus_json = in.require_array("cpus");
  if (schema.starts_with(kSchema) && schema.substr(kSchema.size()) != kVersion) {
    return Error{"future-version", "the bundle is of another version: " + printable(schema), source,
                 std::string(kSchema) + kVersion};
  }
  const auto bad = [&](const std::string& found) {
    return Error{"bad-bundle", "this is no bundle of token rates: " + found, source,
                 "a bundle written by perfcast_cpu_tokens_reproduction --write-bundle"};
  };
  if (const Status status = in.finish(); !status) return bad(status.error().message);
  if (!schema.starts_with(kSchema)) return bad("its schema is " + printable(schema));
  TokenBundle bundle;
  JsonReader card(*card_json, source + ": card");
  bundle.card.purpose = card.string("purpose");
  bundle.card.data = card.string("data");
  bundle.card.licence = card.string("licence");
  bundle.card.attribution = card.string("attribution");
  bundle.card.limits = card.string("limits");
  bundle.card.scores = card.strings("scores");
  bundle.card.generation_error_ratio = card.number_or("generation_error_ratio", kUnknown);
  bundle.card.prefill_error_ratio = card.number_or("prefill_error_ratio", kUnknown);
  if (const Status status = card.finish(); !status) return bad(status.error().message);
  auto cpus = CpuCatalogue::from_json(*cpus_json, source + ": cpus");
  if (!cpus) return cpus.error();
  auto generation = TokenModel::from_json(*generation_json, TokenPhase::kGeneration, source + ": generation");
  if (!generation) return generation.error();
  auto prefill = TokenModel::from_json(*prefill_json, TokenPhase::kPrefill, source + ": prefill");
  if (!prefill) return prefill.error();
  bundle.cpus = std::move(*cpus);
  bundle.generation = std::move(*generation);
  bundle.prefill = std::move(*prefill);
  return bundle;
}

Result<TokenBundle> read_token_bundle(const std::string& path) {
  const auto text = read_file(path, kMaximumBytes);
  if (!text) return text.error();
  return parse_token_bundle(*text, path);
}

}  // namespace perfcast::ai
