#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "program/explain/why.h"
#include "program/forecast/forecast.h"
#include "program/forecast/forecast_tables.h"

namespace perfcast::program {
namespace {

Json features_as_json(const ForecastReport& report) {
  Json items = Json::array();
  for (const FeatureStanding& feature : report.features) {
    Json item;
    item["feature"] = feature.feature;
    item["group"] = feature.group;
    item["text"] = feature.text;
    item["percentile"] = feature.percentile;
    item["deviations"] = feature.deviations;
    items.push_back(std::move(item));
  }
  return items;
}

Json groups_as_json(const ForecastReport& report) {
  Json items = Json::array();
  for (const GroupEffect& group : report.attribution.groups) {
    Json item;
    item["group"] = group.group;
    item["text"] = describe_group(group.group);
    item["share"] = group.share;
    Json& effects = item["effect_ratio"] = Json::object();
    for (const PlatformRow& row : report.rows) {
      const auto found = std::find(report.forecast_ids.begin(), report.forecast_ids.end(), row.platform.id);
      effects[row.platform.id] = std::exp(group.log(found - report.forecast_ids.begin()));
    }
    items.push_back(std::move(item));
  }
  return items;
}

Json numbers(const Eigen::VectorXd& values) { return std::vector<double>(values.begin(), values.end()); }

Json or_null(double value) { return std::isnan(value) ? Json() : Json(value); }

Json effects_as_json(const std::vector<SpreadEffect>& effects) {
  Json items = Json::array();
  for (const SpreadEffect& effect : effects) items.push_back({{"name", effect.name}, {"log", effect.log}});
  return items;
}

// All inputs on all platforms, as natural logarithms of relative time; then one platform, the largest effects first.
Json breakdown_as_json(const ForecastReport& report) {
  const ForecastAttribution& attribution = report.breakdown->attribution;
  Json json;
  Json& methods = json["methods"] = Json::array();
  for (const AttributedPart& part : attribution.parts) {
    methods.push_back(
        {{"model", part.family}, {"method", method_name(part.method)}, {"residue_log", part.residue_log}});
  }
  json["text"] = method_in_words(attribution);
  json["residue_log"] = attribution.residue_log;
  json["platforms"] = report.forecast_ids;
  json["forecast_log"] = numbers(attribution.forecast_log);
  json["typical_program_log"] = numbers(attribution.baseline_log);
  Json& inputs = json["features"] = Json::array();
  for (size_t f = 0; f < attribution.inputs.size(); ++f) {
    const AttributedInput& input = attribution.inputs[f];
    inputs.push_back({{"feature", input.feature},
                      {"group", input.group},
                      {"text", input.text},
                      {"unit", input.unit},
                      {"value", or_null(input.value)},
                      {"typical_value", or_null(input.typical)},
                      {"log", numbers(attribution.log.row(static_cast<Eigen::Index>(f)))}});
  }
  Json& groups = json["groups"] = Json::array();
  for (size_t g = 0; g < attribution.groups.size(); ++g) {
    groups.push_back({{"group", attribution.groups[g]},
                      {"text", describe_group(attribution.groups[g])},
                      {"log", numbers(attribution.group_log.row(static_cast<Eigen::Index>(g)))}});
  }
  const std::optional<size_t>& against = report.breakdown->against;
  const size_t platform = report.breakdown->platform;
  const Spread spread =
      spread_of(attribution, static_cast<int64_t>(platform), against ? static_cast<int64_t>(*against) : -1);
  json["spread"] = {{"platform", report.forecast_ids[platform]},
                    {"against", against ? report.forecast_ids[*against] : "mean"},
                    {"text", spread_line(spread, report.forecast_names[platform])},
                    {"log", spread.log},
                    {"typical_program_log", spread.baseline_log},
                    {"features", effects_as_json(spread.inputs)},
                    {"groups", effects_as_json(spread.groups)}};
  return json;
}

Json cores_as_json(const ForecastReport& report) {
  Json items = Json::array();
  for (const CoreDesignRow& row : report.core_designs) {
    items.push_back({{"design", row.design},
                     {"cycles_per_instruction", row.cycles_per_instruction},
                     {"cycles_ratio_by_bound", row.cycles_ratio_by_bound},
                     {"own_instruction_set", row.is_own},
                     {"fastest_platform", row.fastest_platform}});
    if (row.memory_is_least) items.back()["memory_is_least"] = true;
  }
  return items;
}

Json frequencies_as_json(const FrequencyReport& report) {
  Json json = {{"platform", report.platform},
               {"time_at_hz", report.time_at_hz},
               {"memory_ratio", report.memory_ratio},
               {"memory_source", report.memory_source}};
  if (!report.power_model.empty()) json["power_model"] = {{"file", report.power_model}};
  if (report.period_s) json["period_s"] = *report.period_s;
  const FrequencyForecast& forecast = report.forecast;
  Json& points = json["points"] = Json::array();
  for (const FrequencyPoint& point : forecast.points) {
    Json item = {{"frequency_hz", point.frequency_hz},
                 {"time_s", point.time_s},
                 {"energy_joules", point.joules},
                 {"energy_delay_joule_s", point.energy_delay_js}};
    if (point.period_joules) item["period_energy_joules"] = *point.period_joules;
    points.push_back(std::move(item));
  }
  json["best_energy_hz"] = forecast.points[forecast.best_energy].frequency_hz;
  json["best_energy_delay_hz"] = forecast.points[forecast.best_energy_delay].frequency_hz;
  if (forecast.best_period) json["best_period_hz"] = forecast.points[*forecast.best_period].frequency_hz;
  return json;
}

}  // namespace

Json to_json(const ForecastReport& report) {
  Json json;
  json["schema"] = kForecastSchema;
  json["program"] = report.program;
  for (const WorkloadProgram& program : report.programs) {
    Json item = {{"program", program.program},
                 {"runs_per_round", program.runs},
                 {"time_ratio", program.time_ratio},
                 {"in_distribution", program.in_distribution}};
    if (!program.nearest.empty()) item["nearest"] = program.nearest;
    json["programs"].push_back(std::move(item));
  }
  json["bundle"] = report.bundle;
  json["model"] = report.model;
  json["reference"] = report.reference;
  json["in_distribution"] = report.in_distribution;
  Json& nearest = json["nearest"] = Json::array();
  for (const Neighbour& neighbour : report.nearest) nearest.push_back(neighbour.program);
  json["host_platform"] = report.host_platform ? Json(report.host_platform->id) : Json();
  Json host;
  host["cpu_model"] = report.host_cpu;
  if (report.host) {
    host["match"] = to_string(report.host->certainty);
    host["how"] = report.host->how;
    if (!report.host_runners_up.empty()) host["runners_up"] = report.host_runners_up;
  }
  if (report.host_time_s) host["time_s"] = *report.host_time_s;
  json["host"] = std::move(host);
  if (!report.time_basis.empty()) json["time_basis"] = report.time_basis;
  Json& platforms = json["platforms"] = rows_json(platform_table(report));
  for (size_t i = 0; i < report.rows.size(); ++i) {
    std::vector<PlacedInstance> instances;
    for (const InstanceRow& instance : report.rows[i].instances) instances.emplace_back(&report.rows[i], &instance);
    if (!instances.empty()) platforms[i]["instances"] = rows_json(instance_table(instances));
  }
  if (report.energy) {
    Json& energy = json["energy"];
    energy["reference"] = "mean";
    energy["platforms_known_count"] = report.energy->known;
    energy["cores_busy_count"] = report.energy->cores_busy;
    if (report.energy->calibration_ratio) energy["calibration_ratio"] = *report.energy->calibration_ratio;
  }
  if (report.frequencies) json["frequencies"] = frequencies_as_json(*report.frequencies);
  if (!report.currency.empty()) json["currency"] = report.currency;
  if (!report.price_source.empty()) {
    Json& prices = json["prices"] = {{"source", report.price_source}, {"types_left_out_count", report.types_left_out}};
    put_known(prices, "date", report.price_date);
    put_known(prices, "regions", report.price_regions);
  }
  if (report.choice.fastest) {
    Json& choice = json["choice"];
    choice["within_ratio"] = report.choice.within_ratio;
    for (const auto& [name, pick] : {std::pair{"fastest", &report.choice.fastest},
                                     {"cheapest", &report.choice.cheapest},
                                     {"compromise", &report.choice.compromise}}) {
      if (!*pick) continue;
      choice[name] = {{"vendor", (*pick)->vendor},
                      {"server", (*pick)->server},
                      {"platform", (*pick)->platform},
                      {"wall_s", (*pick)->wall_s},
                      {"cost_per_1000_runs", (*pick)->cost_per_1000},
                      {"copies_count", (*pick)->copies},
                      {"chance_ratio", (*pick)->chance_ratio}};
    }
  }
  if (report.unmatched_prices) {
    Json& unmatched = json["unmatched_prices"] = Json::array();
    for (const Price& price : *report.unmatched_prices) {
      unmatched.push_back({{"vendor", price.vendor}, {"server", price.server}, {"where", price.where}});
    }
  }
  json["explanation"] = {{"text", why_line(report.attribution, report.features)},
                         {"groups", groups_as_json(report)},
                         {"features", features_as_json(report)},
                         {"core_designs", cores_as_json(report)}};
  if (report.breakdown) json["explanation"]["attribution"] = breakdown_as_json(report);
  Json& warnings = json["warnings"] = Json::array();
  for (const ProfileWarning& warning : report.warnings) {
    warnings.push_back({{"code", warning.code}, {"message", warning.message}, {"advice", warning.advice}});
  }
  if (!report.unanswered.empty()) json["unanswered"] = report.unanswered;
  json["notes"] = report.notes;
  return json;
}

}  // namespace perfcast::program
