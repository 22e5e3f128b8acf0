#include "ai/engine/cpu_engine_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/engine/engine_number.h"
#include "ai/engine/engine_step.h"
#include "base/json.h"
#include "base/statistics.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kMostCpus = 100000;
constexpr double kMostLogHalfWidth = 5;
constexpr int64_t kMostCpuTokens = 10'000'000;

struct WidthNumber {
  const char* name;
  double CpuEngineWidths::*member;
};
constexpr WidthNumber kWidthNumbers[] = {
    {"client_token_log_half_width", &CpuEngineWidths::client_token},
    {"further_token_log_half_width", &CpuEngineWidths::further_token},
    {"first_token_log_half_width", &CpuEngineWidths::first_token},
};
struct WidthSet {
  const char* name;
  CpuEngineWidths CpuEngineProfile::*member;
};
constexpr WidthSet kWidthSets[] = {
    {"measured", &CpuEngineProfile::measured},
    {"of_kin", &CpuEngineProfile::of_kin},
};

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

const CpuEngineModel* CpuEngineProfile::nearest_model(double weight_bytes) const {
  const auto apart = [&](const CpuEngineModel& model) { return std::abs(std::log(model.weight_bytes / weight_bytes)); };
  const auto found = std::ranges::min_element(
      models, [&](const CpuEngineModel& a, const CpuEngineModel& b) { return apart(a) < apart(b); });
  return found == models.end() ? nullptr : &*found;
}

std::vector<std::string> CpuEngineProfile::model_names() const {
  std::vector<std::string> names;
  for (const CpuEngineModel& model : models) names.push_back(model.name);
  return names;
}

Result<CpuEngineForecast> forecast_cpu_engine(const CpuEngineProfile& profile, const CpuFacts& cpu, const LlmWork& work,
                                              const CpuEngineRequest& request) {
  if (const Status status = check_llm_work(work); !status) return status.error();
  for (const int64_t tokens : {request.prompt_tokens, request.output_tokens}) {
    if (tokens >= 1 && tokens <= kMostCpuTokens) continue;
    return usage_error("bad-tokens", fmt::format("the number of tokens can't be used: {}", tokens), "",
                       fmt::format("1 to {}", kMostCpuTokens));
  }
  const auto machine = cpu_engine_machine(cpu, request.precision, request.processes);
  if (!machine) return machine.error();
  CpuEngineForecast forecast;
  forecast.machine = *machine;
  forecast.times =
      cpu_engine_times(profile.constants, *machine, work, request.sorts, static_cast<double>(request.prompt_tokens));
  forecast.client_token_s =
      client_token_s(forecast.times.first_s(), forecast.times.further_s(), static_cast<double>(request.output_tokens));
  forecast.knows_cpu = has_name(profile.cpus, cpu_model_key(cpu));
  forecast.knows_model = has_name(profile.model_names(), work.name);
  const CpuEngineModel* like = forecast.knows_model ? nullptr : profile.nearest_model(work.weight_bytes);
  const CpuEngineWidths& known = cpu.bandwidth_imputed ? profile.of_kin : profile.measured;
  for (const WidthNumber& number : kWidthNumbers) {
    const double own = known.*number.member, cpu_out = profile.measured.*number.member;
    // What leaving a model out adds to leaving the CPU out.
    const double model_out = like == nullptr ? 0 : like->left_out.*number.member;
    const double added = model_out * model_out - cpu_out * cpu_out;
    const double unmeasured = kNormal95 * request.unmeasured_log_sd;
    forecast.widths.*number.member = std::sqrt(own * own + std::max(0.0, added) + unmeasured * unmeasured);
  }
  return forecast;
}

Json to_json(const CpuEngineProfile& profile) {
  Json constants = Json::object();
  for (const CpuEngineConstant& constant : cpu_engine_constants()) {
    constants[constant.name] = profile.constants.*constant.member;
  }
  Json json = {{"name", profile.name},
               {"version", profile.version},
               {"source", profile.source},
               {"rows", profile.rows},
               {"constants", std::move(constants)}};
  const auto put_widths = [](const CpuEngineWidths& widths, Json& into) {
    for (const WidthNumber& number : kWidthNumbers) into[number.name] = widths.*number.member;
  };
  for (const WidthSet& set : kWidthSets) put_widths(profile.*set.member, json[set.name]);
  for (const CpuEngineModel& model : profile.models) {
    Json entry = {{"name", model.name}, {"weight_bytes", model.weight_bytes}};
    put_widths(model.left_out, entry);
    json["models"].push_back(std::move(entry));
  }
  json["cpus"] = profile.cpus;
  return json;
}

Result<CpuEngineProfile> cpu_engine_profile_from(const Json& json, const std::string& path) {
  JsonReader in(json, path);
  CpuEngineProfile profile;
  profile.name = in.string("name");
  profile.version = in.string("version");
  profile.source = in.string("source");
  profile.rows = in.optional_integer("rows", 0, int64_t{1} << 40).value_or(0);
  profile.cpus = in.strings("cpus", kMostCpus);
  const Json* constants = in.require_object("constants");
  std::vector<const Json*> sets;
  for (const WidthSet& set : kWidthSets) sets.push_back(in.require_object(set.name));
  const Json* models = in.array("models");
  in.refuse_others();
  std::vector<std::string> complaints = in.complaints();
  const auto take_widths = [](JsonReader& reader, CpuEngineWidths& widths) {
    for (const WidthNumber& number : kWidthNumbers) {
      widths.*number.member = number_within(reader, number.name, 0, kMostLogHalfWidth);
    }
  };
  const auto take = [&](JsonReader& reader) {
    reader.refuse_others();
    complaints.insert(complaints.end(), reader.complaints().begin(), reader.complaints().end());
  };
  if (constants != nullptr) {
    JsonReader reader(*constants, in.path("constants"));
    for (const CpuEngineConstant& constant : cpu_engine_constants()) {
      profile.constants.*constant.member = number_within(reader, constant.name, constant.least, constant.most);
    }
    take(reader);
  }
  for (size_t i = 0; i < sets.size(); ++i) {
    if (sets[i] == nullptr) continue;
    JsonReader reader(*sets[i], in.path(kWidthSets[i].name));
    take_widths(reader, profile.*kWidthSets[i].member);
    take(reader);
  }
  for (size_t i = 0; models != nullptr && i < std::min(models->size(), kMostCpus); ++i) {
    JsonReader reader((*models)[i], in.path("models") + "[" + std::to_string(i) + "]");
    CpuEngineModel model;
    model.name = reader.string("name");
    model.weight_bytes = number_within(reader, "weight_bytes", 1, 1e18);
    take_widths(reader, model.left_out);
    take(reader);
    profile.models.push_back(std::move(model));
  }
  if (!complaints.empty()) {
    return Error{"bad-json-field", join(complaints, "; "), path,
                 "a profile as perfcast's own bundle of engines has it"};
  }
  return profile;
}

}  // namespace perfcast::ai
