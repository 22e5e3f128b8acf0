#include "ai/engine/engine_bundle.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr std::string_view kSchema = "perfcast.engines/";
constexpr const char* kVersion = "1";
constexpr size_t kMaximumBytes = size_t{16} << 20;
constexpr size_t kMostEngines = 1000;

// One line for each member, each engine and each CPU model: a person can look into it.
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

Result<EngineCard> card_from(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  EngineCard card;
  card.purpose = in.string("purpose");
  card.data = in.string("data");
  card.licence = in.string("licence");
  card.attribution = in.string("attribution");
  card.limits = in.string("limits");
  card.scores = in.strings("scores", 1000);
  card.token_error_ratio = in.number_or("token_error_ratio", kUnknown);
  card.first_error_ratio = in.number_or("first_error_ratio", kUnknown);
  card.cpu_token_error_ratio = in.number_or("cpu_token_error_ratio", kUnknown);
  card.cpu_first_error_ratio = in.number_or("cpu_first_error_ratio", kUnknown);
  in.refuse_others();
  if (Status status = in.finish(); !status) return status.error();
  return card;
}

}  // namespace

std::vector<std::string> EngineBundle::names() const {
  std::vector<std::string> names;
  for (const EngineProfile& engine : engines) names.push_back(engine.name);
  return names;
}

Result<const EngineProfile*> EngineBundle::find(std::string_view name) const {
  const std::string wanted = plain_name(name);
  for (const EngineProfile& engine : engines) {
    if (plain_name(engine.name) == wanted) return &engine;
  }
  return usage_error("unknown-engine", "no engine is named '" + printable(name.substr(0, 60)) + "'", "",
                     "one of " + join(names(), ", "));
}

Result<const CpuEngineProfile*> EngineBundle::find_on_cpus(std::string_view name) const {
  const std::string wanted = plain_name(name);
  std::vector<std::string> known;
  for (const CpuEngineProfile& engine : cpu_engines) {
    if (plain_name(engine.name) == wanted) return &engine;
    known.push_back(engine.name);
  }
  return usage_error("unknown-engine", "nobody measured '" + printable(name.substr(0, 60)) + "' on CPUs here", "",
                     "one of " + join(known, ", "));
}

std::string engine_bundle_text(const EngineBundle& bundle) {
  Json card = {{"purpose", bundle.card.purpose}, {"data", bundle.card.data},
               {"licence", bundle.card.licence}, {"attribution", bundle.card.attribution},
               {"limits", bundle.card.limits},   {"scores", bundle.card.scores}};
  put_known(card, "token_error_ratio", bundle.card.token_error_ratio);
  put_known(card, "first_error_ratio", bundle.card.first_error_ratio);
  put_known(card, "cpu_token_error_ratio", bundle.card.cpu_token_error_ratio);
  put_known(card, "cpu_first_error_ratio", bundle.card.cpu_first_error_ratio);
  Json engines = Json::array();
  for (const EngineProfile& engine : bundle.engines) engines.push_back(to_json(engine));
  Json json = {{"schema", std::string(kSchema) + kVersion}, {"card", std::move(card)}, {"engines", std::move(engines)}};
  for (const CpuEngineProfile& engine : bundle.cpu_engines) json["cpu_engines"].push_back(to_json(engine));
  json["hosts"] = bundle.hosts.to_json();
  return lines(json);
}

Result<EngineBundle> parse_engine_bundle(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const std::string schema = in.string("schema");
  if (schema.starts_with(kSchema) && schema.substr(kSchema.size()) != kVersion) {
    return Error{"future-version", "the bundle is of another version: " + printable(schema.substr(0, 60)), source,
                 std::string(kSchema) + kVersion};
  }
  const Json* card_json = in.require_object("card");
  const Json* engines_json = in.require_array("engines");
  const Json* cpus_json = in.array("cpu_engines");
  const Json* hosts_json = in.require_array("hosts");
  if (!schema.empty() && !schema.starts_with(kSchema)) {
    in.complain("schema", "'" + printable(schema.substr(0, 60)) + "'", std::string(kSchema) + kVersion);
  }
  in.refuse_others();
  if (Status status = in.finish(); !status) return status.error();
  if (engines_json->empty() ||
      std::max(engines_json->size(), cpus_json == nullptr ? 0 : cpus_json->size()) > kMostEngines) {
    return Error{"bad-bundle", std::to_string(engines_json->size()) + " engines", source, "1 to 1000"};
  }
  EngineBundle bundle;
  auto card = card_from(*card_json, in.path("card"));
  if (!card) return card.error();
  bundle.card = std::move(*card);
  std::set<std::string> names;
  for (size_t i = 0; i < engines_json->size(); ++i) {
    auto engine = engine_profile_from((*engines_json)[i], in.path("engines") + "[" + std::to_string(i) + "]");
    if (!engine) return engine.error();
    if (!names.insert(plain_name(engine->name)).second) {
      return Error{"bad-bundle", "two engines are named '" + engine->name + "'", source, "names that differ"};
    }
    bundle.engines.push_back(std::move(*engine));
  }
  for (size_t i = 0; cpus_json != nullptr && i < cpus_json->size(); ++i) {
    auto engine = cpu_engine_profile_from((*cpus_json)[i], in.path("cpu_engines") + "[" + std::to_string(i) + "]");
    if (!engine) return engine.error();
    bundle.cpu_engines.push_back(std::move(*engine));
  }
  auto hosts = HostLevels::from_json(*hosts_json, in.path("hosts"));
  if (!hosts) return hosts.error();
  bundle.hosts = std::move(*hosts);
  return bundle;
}

Result<EngineBundle> read_engine_bundle(const std::string& path) {
  const auto text = read_file(path, kMaximumBytes);
  if (!text) return text.error();
  return parse_engine_bundle(*text, path);
}

}  // namespace perfcast::ai
