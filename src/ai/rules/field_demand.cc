#include "ai/rules/field_demand.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/text.h"

namespace perfcast::ai {
namespace {

// Options are read as text in another unit: the last digit may differ.
constexpr double kRounding = 1e-9;

bool exceeds(double value, double limit) { return value > limit * (1 + kRounding); }

// "20 ms" and "15 ms"; with all digits where the usual ones are the same.
std::string looser_time(const char* what, double used_s, double field_s) {
  std::string used = human_seconds(used_s), field = human_seconds(field_s);
  if (used == field) {
    used = fmt::format("{:.9g} s", used_s);
    field = fmt::format("{:.9g} s", field_s);
  }
  return fmt::format("{} {}, the field's is {}", what, used, field);
}

void compare_limit(const char* what, const std::optional<double>& used_s, const std::optional<double>& field_s,
                   std::vector<std::string>& looser) {
  if (!field_s) return;
  if (!used_s) {
    looser.push_back(fmt::format("no {}, the field's is {}", what, human_seconds(*field_s)));
  } else if (exceeds(*used_s, *field_s)) {
    looser.push_back(looser_time(what, *used_s, *field_s));
  }
}

std::vector<std::string> unheld_quality_of(const InferenceRule& benchmark) {
  if (!benchmark.reference || benchmark.least_shares.empty()) {
    return {"perfcast knows no quality that the rules require of " + benchmark.name + ""};
  }
  if (benchmark.not_held.empty()) return {};
  return {"of the quality of " + benchmark.name + " " + benchmark.metric + " alone is held, not " +
          join(benchmark.not_held, ", ")};
}

}  // namespace

Result<FieldDemand> field_demand_of(const BenchRules& rules, const BenchmarkChoice& choice, LoadScenario scenario) {
  auto load = load_rules_for(rules, choice, scenario);
  if (!load) return load.error();
  FieldDemand field;
  field.rules = std::move(*load);
  field.samples_per_query = rule_of(rules, LoadScenario::kMultiStream).samples_per_query;
  const InferenceRule* const benchmark =
      choice.benchmark.empty() ? nullptr : find_inference_rule(rules, choice.benchmark);
  if (benchmark == nullptr) return field;
  field.benchmark = benchmark->name;
  field.samples = benchmark->samples;
  field.equal_issue = benchmark->equal_issue;
  field.streams = benchmark->streams();
  if (choice.division == BenchDivision::kClosed) field.unheld_quality = unheld_quality_of(*benchmark);
  return field;
}

std::vector<std::string> looser_than_field(const FieldDemand& field, const LoadRules& used,
                                           const LoadSettings& settings) {
  std::vector<std::string> looser;
  const LoadRules& asked = field.rules;
  compare_limit("latency limit", used.max_latency_s, asked.max_latency_s, looser);
  compare_limit("limit of the time to first token", used.max_ttft_s, asked.max_ttft_s, looser);
  compare_limit("limit of the time per output token", used.max_tpot_s, asked.max_tpot_s, looser);
  if (exceeds(asked.percentile, used.percentile)) {
    looser.push_back(fmt::format("latencies are judged at p{:.6g}, by the field at p{:.6g}", 100 * used.percentile,
                                 100 * asked.percentile));
  }
  if (asked.least_accuracy) {
    const std::string& metric = asked.accuracy_metric;
    if (!used.least_accuracy) {
      looser.push_back(
          fmt::format("no {} is required; the rules of the field require {:.6g}", metric, *asked.least_accuracy));
    } else if (exceeds(*asked.least_accuracy, *used.least_accuracy)) {
      looser.push_back(
          fmt::format("least {} {:.6g}, the field's is {:.6g}", metric, *used.least_accuracy, *asked.least_accuracy));
    }
  }
  if (settings.loaded_samples < field.samples) {
    looser.push_back(fmt::format("{} {} drawn from, the field's are {}", settings.loaded_samples,
                                 settings.loaded_samples == 1 ? "sample is" : "samples are", field.samples));
  }
  const bool multi = settings.scenario == LoadScenario::kMultiStream;
  if (multi && settings.samples_per_query < field.samples_per_query) {
    looser.push_back(fmt::format("queries of {}, the field's are of {} samples", settings.samples_per_query,
                                 field.samples_per_query));
  }
  if (settings.equal_issue && !field.equal_issue) {
    looser.emplace_back("every sample comes as often as every other, the field draws them at random");
  }
  looser.insert(looser.end(), field.unheld_quality.begin(), field.unheld_quality.end());
  return looser;
}

}  // namespace perfcast::ai
