#include "ai/rules/bench_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr const char* kRulesSchema = "perfcast.bench-rules/1";
constexpr size_t kMostRules = 10000;

std::optional<double> positive(JsonReader& in, const char* key, double most) {
  const auto value = in.optional_number(key);
  if (!value || (*value > 0 && *value <= most)) return value;
  in.complain(key, fmt::format("{:g}", *value), fmt::format("a number above 0, {:g} at most", most));
  return std::nullopt;
}

int64_t count_or(JsonReader& in, const char* key, int64_t fallback) {
  const int64_t value = in.integer_or(key, fallback);
  if (value == fallback || (value >= 1 && value <= kMostLoadSamples)) return value;
  in.complain(key, std::to_string(value), "1 to " + std::to_string(kMostLoadSamples));
  return fallback;
}

std::optional<LoadScenario> scenario_from(JsonReader& in, const char* key, const std::string& name) {
  const auto scenario = scenario_named(name);
  if (!scenario)
    in.complain(key, "'" + printable(name.substr(0, 60)) + "'", "single-stream, multi-stream, server, offline");
  return scenario;
}

// Reads each entry of a list with `read`, all mistakes of an entry at once.
template <typename Read>
Status read_list(const Json& json, const char* key, const std::string& source, const Read& read) {
  const auto list = json.find(key);
  if (list == json.end()) return {};
  if (!list->is_array() || list->size() > kMostRules) {
    return Error{"bad-json-field", "no list of at most 10000 entries", source + "." + key, "a list"};
  }
  for (size_t i = 0; i < list->size(); ++i) {
    JsonReader in((*list)[i], fmt::format("{}.{}[{}]", source, key, i));
    read(in);
    in.refuse_others();
    if (Status finished = in.finish(); !finished) return finished;
  }
  return {};
}

ScenarioRule scenario_rule_from(JsonReader& in) {
  ScenarioRule rule;
  if (const auto scenario = scenario_from(in, "scenario", in.string("scenario"))) rule.scenario = *scenario;
  rule.percentile = in.number("percentile");
  if (!(rule.percentile > 0 && rule.percentile < 1)) in.complain("percentile", "a number", "above 0, below 1");
  rule.min_duration_s = positive(in, "min_duration_s", 1e6).value_or(0);
  rule.min_queries = count_or(in, "min_queries", 1);
  rule.samples_per_query = count_or(in, "samples_per_query", 1);
  (void)in.string_or("source", "");
  return rule;
}

CategoryRule category_from(JsonReader& in) {
  CategoryRule category;
  category.name = in.string("name");
  for (const std::string& name : in.strings("scenarios")) {
    if (const auto scenario = scenario_from(in, "scenarios", name)) category.scenarios.push_back(*scenario);
  }
  (void)in.string_or("source", "");
  return category;
}

InferenceRule inference_from(JsonReader& in) {
  InferenceRule rule;
  rule.name = in.string("name");
  rule.aliases = in.strings("aliases");
  rule.categories = in.strings("category");
  rule.area = in.string_or("area", "");
  rule.task = in.string_or("task", "");
  rule.model = in.string_or("model", "");
  rule.dataset = in.string_or("dataset", "");
  rule.quality = in.string_or("quality", "");
  rule.metric = in.string_or("metric", "");
  rule.version = in.string_or("version", "");
  rule.samples = count_or(in, "samples", 0);
  rule.reference = positive(in, "reference", 1e6);
  if (const Json* const shares = in.array("least_shares")) {
    for (const Json& share : *shares) {
      const double value = share.is_number() ? share.get<double>() : 0;
      if (value > 0 && value <= 1) {
        rule.least_shares.push_back(value);
      } else {
        in.complain("least_shares", "no share", "numbers above 0, 1 at most");
      }
    }
  }
  std::sort(rule.least_shares.begin(), rule.least_shares.end());
  rule.not_held = in.strings("not_held");
  rule.server_latency_s = positive(in, "server_latency_s", 1e6);
  rule.ttft_s = positive(in, "ttft_s", 1e6);
  rule.tpot_s = positive(in, "tpot_s", 1e6);
  if (const int64_t least = count_or(in, "offline_min_samples", 0); least > 0) rule.offline_min_samples = least;
  rule.equal_issue = in.boolean_or("equal_issue", false);
  rule.sources = in.strings("sources");
  return rule;
}

TrainingRule training_from(JsonReader& in) {
  TrainingRule rule;
  rule.name = in.string("name");
  rule.aliases = in.strings("aliases");
  rule.area = in.string_or("area", "");
  rule.benchmark = in.string("benchmark");
  rule.dataset = in.string_or("dataset", "");
  rule.quality = in.string("quality");
  rule.metric = in.string_or("metric", "");
  rule.target = in.optional_number("target");
  rule.larger_is_better = in.boolean_or("larger_is_better", true);
  rule.not_held = in.strings("not_held");
  rule.model = in.string_or("model", "");
  rule.version = in.string_or("version", "");
  rule.sources = in.strings("sources");
  return rule;
}

Error bad_rules(const std::string& what, const std::string& source, const std::string& expected) {
  return {"bad-rules", what, source, expected};
}

// Of the benchmarks of one table: each name is one's alone, each source is of the file.
template <typename Rule>
Status check_benchmarks(const std::vector<Rule>& table, const BenchRules& rules, const std::string& source) {
  std::set<std::string> names;
  for (const Rule& rule : table) {
    std::set<std::string> own = {plain_name(rule.name)};
    for (const std::string& alias : rule.aliases) own.insert(plain_name(alias));
    for (const std::string& name : own) {
      if (name.empty() || !names.insert(name).second) {
        return bad_rules("the name '" + printable(name) + "' is empty or there twice", source,
                         "names of one benchmark each");
      }
    }
    const bool known = std::all_of(rule.sources.begin(), rule.sources.end(),
                                   [&](const std::string& name) { return rules.sources.contains(name); });
    if (!known) return bad_rules("a source of '" + printable(rule.name) + "' is none", source, "sources of the file");
  }
  return {};
}

// By name or alias, which are held to be one's alone.
template <typename Rule>
const Rule* find_named(const std::vector<Rule>& table, std::string_view name) {
  const std::string wanted = plain_name(name);
  for (const Rule& rule : table) {
    if (plain_name(rule.name) == wanted) return &rule;
    for (const std::string& alias : rule.aliases) {
      if (plain_name(alias) == wanted) return &rule;
    }
  }
  return nullptr;
}

Status check_rules(const BenchRules& rules, const std::string& source) {
  if (Status valid = check_benchmarks(rules.inference, rules, source); !valid) return valid;
  if (Status valid = check_benchmarks(rules.training, rules, source); !valid) return valid;
  std::set<LoadScenario> scenarios;
  for (const ScenarioRule& rule : rules.scenarios) scenarios.insert(rule.scenario);
  if (scenarios.size() == 4 && rules.scenarios.size() == 4) return {};
  return bad_rules("not one rule for each scenario", source, "single-stream, multi-stream, server, offline");
}

}  // namespace

Result<BenchRules> parse_bench_rules(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const std::string schema = in.string("schema");
  if (!schema.empty() && schema != kRulesSchema) {
    in.complain("schema", "'" + printable(schema.substr(0, 60)) + "'", kRulesSchema);
  }
  const Json* const sources = in.require_object("sources");
  in.refuse_others({"note", "scenarios", "categories", "inference", "training"});
  if (Status finished = in.finish(); !finished) return finished.error();
  BenchRules rules;
  for (const auto& [name, document] : sources->items()) {
    if (!document.is_string())
      return bad_rules("the source '" + printable(name) + "' is no text", source, "a document");
    rules.sources[name] = document.get<std::string>();
  }
  Status read = read_list(*json, "scenarios", source,
                          [&](JsonReader& entry) { rules.scenarios.push_back(scenario_rule_from(entry)); });
  if (!read) return read.error();
  read = read_list(*json, "categories", source,
                   [&](JsonReader& entry) { rules.categories.push_back(category_from(entry)); });
  if (!read) return read.error();
  read = read_list(*json, "inference", source,
                   [&](JsonReader& entry) { rules.inference.push_back(inference_from(entry)); });
  if (!read) return read.error();
  read =
      read_list(*json, "training", source, [&](JsonReader& entry) { rules.training.push_back(training_from(entry)); });
  if (!read) return read.error();
  if (Status valid = check_rules(rules, source); !valid) return valid.error();
  return rules;
}

Result<BenchRules> read_bench_rules(const std::string& path) {
  const auto text = read_file(path, size_t{1} << 24);
  if (!text) return text.error();
  return parse_bench_rules(*text, path);
}

const InferenceRule* find_inference_rule(const BenchRules& rules, std::string_view name) {
  return find_named(rules.inference, name);
}

const TrainingRule* find_training_rule(const BenchRules& rules, std::string_view name) {
  return find_named(rules.training, name);
}

const ScenarioRule& rule_of(const BenchRules& rules, LoadScenario scenario) {
  return *std::find_if(rules.scenarios.begin(), rules.scenarios.end(),
                       [&](const ScenarioRule& rule) { return rule.scenario == scenario; });
}

Result<LoadRules> load_rules_for(const BenchRules& rules, const BenchmarkChoice& choice, LoadScenario scenario) {
  const ScenarioRule& general = rule_of(rules, scenario);
  LoadRules load;
  load.percentile = general.percentile;
  load.min_duration_s = general.min_duration_s;
  load.min_queries = general.min_queries;
  load.seeds = LoadSeeds{};
  if (!choice.category.empty()) {
    const auto category = std::find_if(rules.categories.begin(), rules.categories.end(),
                                       [&](const CategoryRule& rule) { return rule.name == choice.category; });
    std::vector<std::string> names;
    names.reserve(rules.categories.size());
    for (const CategoryRule& rule : rules.categories) names.push_back(rule.name);
    if (category == rules.categories.end()) {
      return usage_error("bad-usage", "there is no category '" + printable(choice.category) + "'", "--category",
                         "one of: " + join(names, ", "));
    }
    if (std::count(category->scenarios.begin(), category->scenarios.end(), scenario) == 0) {
      std::vector<std::string> valid;
      valid.reserve(category->scenarios.size());
      for (const LoadScenario known : category->scenarios) valid.push_back(to_string(known));
      return usage_error("bad-usage", "the category " + category->name + " has no scenario " + to_string(scenario),
                         "--scenario", "one of: " + join(valid, ", "));
    }
  }
  if (choice.benchmark.empty()) return load;
  const InferenceRule* const benchmark = find_inference_rule(rules, choice.benchmark);
  if (benchmark == nullptr) {
    std::vector<std::string> names;
    names.reserve(rules.inference.size());
    for (const InferenceRule& rule : rules.inference) names.push_back(rule.name);
    return usage_error("bad-usage", "there is no benchmark '" + printable(choice.benchmark) + "'", "--benchmark",
                       "one of: " + join(names, ", "));
  }
  const auto& categories = benchmark->categories;
  const bool is_of_it = choice.category.empty() || categories.empty() ||
                        std::find(categories.begin(), categories.end(), choice.category) != categories.end();
  const bool any_of_it = std::any_of(rules.inference.begin(), rules.inference.end(), [&](const InferenceRule& rule) {
    return std::find(rule.categories.begin(), rule.categories.end(), choice.category) != rule.categories.end();
  });
  if (!is_of_it && !any_of_it) {
    return usage_error("bad-usage",
                       "no benchmark of the category " + choice.category +
                           " is known here: no source at hand states one with its quality",
                       "--category",
                       "for " + benchmark->name + " one of: " + join(categories, ", ") + "; for " + choice.category +
                           " your own limits, without --benchmark");
  }
  if (!is_of_it) {
    return usage_error("bad-usage", benchmark->name + " is no benchmark of the category " + choice.category,
                       "--category", "one of its: " + join(categories, ", "));
  }
  if (scenario == LoadScenario::kServer) {
    load.max_latency_s = benchmark->server_latency_s;
    load.max_ttft_s = benchmark->ttft_s;
    load.max_tpot_s = benchmark->tpot_s;
    if (!load.max_latency_s && !benchmark->streams()) {
      return usage_error("bad-usage", benchmark->name + " has no latency limit: it is not run as a server",
                         "--scenario", "single-stream or offline");
    }
  }
  if (scenario == LoadScenario::kOffline && benchmark->offline_min_samples) {
    load.min_queries = *benchmark->offline_min_samples;
  }
  load.accuracy_metric = benchmark->metric.empty() ? "accuracy" : benchmark->metric;
  if (choice.division == BenchDivision::kClosed && benchmark->reference && !benchmark->least_shares.empty()) {
    const auto& shares = benchmark->least_shares;
    load.least_accuracy = *benchmark->reference * (choice.high_accuracy ? shares.back() : shares.front());
  }
  return load;
}

}  // namespace perfcast::ai
