#include "ai/audit/known_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr const char* kModelsSchema = "perfcast.audit-models/1";
constexpr size_t kMostModels = 10000;

double positive_or_unknown(JsonReader& in, const char* key, double most) {
  const auto value = in.optional_number(key);
  if (!value) return kUnknown;
  if (*value > 0 && *value <= most) return *value;
  in.complain(key, fmt::format("{:g}", *value), fmt::format("a number above 0, {:g} at most", most));
  return kUnknown;
}

KnownModel model_from(JsonReader& in) {
  KnownModel model;
  model.name = in.string("name");
  if (plain_name(model.name).empty()) in.complain("name", "nothing", "a name");
  model.aliases = in.strings("aliases");
  model.language_model = in.string_or("language_model", "");
  model.convolutional = in.boolean_or("convolutional", false);
  model.flops_per_sample_least = positive_or_unknown(in, "flops_per_sample_least", 1e20);
  model.tokens_per_sample_least = positive_or_unknown(in, "tokens_per_sample_least", 1e9);
  model.parameters = positive_or_unknown(in, "parameters", 1e15);
  model.dataset = in.string_or("dataset", "");
  if (const Json* accuracy = in.object("accuracy")) {
    JsonReader part(*accuracy, in.path() + ".accuracy");
    model.accuracy_metric = part.string("metric");
    model.accuracy_ratio = positive_or_unknown(part, "ratio", 1);
    model.least_share = positive_or_unknown(part, "least_share", 1);
    part.refuse_others();
    if (!part.complaints().empty()) in.complain("accuracy", part.complaints().front(), "metric, ratio, least_share");
  }
  model.sources = in.strings("sources");
  return model;
}

}  // namespace

Result<KnownModels> parse_known_models(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const std::string schema = in.string("schema");
  if (!schema.empty() && schema != kModelsSchema) {
    in.complain("schema", "'" + printable(schema.substr(0, 60)) + "'", kModelsSchema);
  }
  const Json* list = in.require_array("models");
  in.refuse_others({"note"});
  if (list != nullptr && list->size() > kMostModels) {
    in.complain("models", fmt::format("{} models", list->size()), fmt::format("{} at most", kMostModels));
  }
  if (Status finished = in.finish(); !finished) return finished.error();
  KnownModels models;
  std::set<std::string> names;
  models.models.reserve(list->size());
  for (size_t i = 0; i < list->size(); ++i) {
    JsonReader model_in((*list)[i], fmt::format("{}.models[{}]", source, i));
    KnownModel model = model_from(model_in);
    model_in.refuse_others();
    if (Status finished = model_in.finish(); !finished) return finished.error();
    std::set<std::string> own = {plain_name(model.name)};
    for (const std::string& alias : model.aliases) own.insert(plain_name(alias));
    for (const std::string& name : own) {
      if (names.insert(name).second) continue;
      return Error{"bad-model", "two models are called '" + printable(name) + "'", source, "names of one model each"};
    }
    models.models.push_back(std::move(model));
  }
  return models;
}

Result<KnownModels> read_known_models(const std::string& path) {
  const auto text = read_file(path, size_t{1} << 24);
  if (!text) return text.error();
  return parse_known_models(*text, path);
}

const KnownModel* find_known_model(const KnownModels& models, std::string_view name) {
  const std::string wanted = plain_name(name);
  for (const KnownModel& model : models.models) {
    if (plain_name(model.name) == wanted) return &model;
    for (const std::string& alias : model.aliases) {
      if (plain_name(alias) == wanted) return &model;
    }
  }
  return nullptr;
}

std::vector<std::string> names_of(const KnownModels& models) {
  std::vector<std::string> names;
  names.reserve(models.models.size());
  for (const KnownModel& model : models.models) names.push_back(model.name);
  return names;
}

}  // namespace perfcast::ai
