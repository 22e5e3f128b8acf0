#include "program/explain/forecast_attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.h"
#include "program/explain/attribution.h"
#include "program/model/cores/modelled_cycles.h"
#include "program/model/features/work_features.h"
#include "program/model/kinds/kind_of_program.h"

namespace perfcast::program {
namespace {

constexpr const char* kInstructionCount = "instructions_count";

// What the program has counters of, as a typical program has them.
Profile typical_like(const Profile& profile, const MetricValues& typical_per_instruction) {
  Profile typical;
  typical.instruction_set = profile.instruction_set;
  const double instructions = profile.metrics.find(kInstructionCount)->second;
  typical.metrics[kInstructionCount] = instructions;
  for (const auto& [name, rate] : typical_per_instruction) {
    if (profile.metrics.contains(name)) typical.metrics[name] = rate * instructions;
  }
  return typical;
}

std::string unit_of(const std::string& feature) {
  if (feature.starts_with("share_")) return "share of time";
  if (feature.starts_with("rate_")) return "per instruction";
  if (feature.starts_with("relative_")) return "cycles against all designs' mean";
  return "";
}

std::vector<AttributedInput> inputs_of(const FeatureAttribution& attribution, const Profile& profile,
                                       const Profile& typical, const ModelInputs& model_inputs) {
  // Families may see inputs that the bundle's own list lacks: what they are of both programs follows from both lists.
  std::map<std::string, std::pair<double, double>> values;
  const auto read = [&](const std::vector<std::string>& names, const Eigen::MatrixXd& rows) {
    for (size_t f = 0; f < names.size(); ++f) {
      const auto column = static_cast<Eigen::Index>(f);
      values.try_emplace(names[f], rows(0, column), rows(1, column));
    }
  };
  const std::vector<const Profile*> both = {&profile, &typical};
  read(model_inputs.names(), model_inputs.extract(both));
  read(work_feature_names(), extract_work_features(both));
  std::vector<std::string> designs = core_metrics();
  for (std::string& design : designs) design.insert(0, "relative_");
  read(designs, relative_log_cycles(both));
  read(KindOfProgram::inputs(), KindOfProgram::extract(both));

  std::vector<AttributedInput> inputs;
  inputs.reserve(attribution.features.size());
  for (const std::string& feature : attribution.features) {
    AttributedInput input{feature, group_of_feature(feature), describe_feature(feature), unit_of(feature)};
    const auto& [own, reference] = values[feature];
    input.value = feature_quantity(feature, own);
    input.typical = feature_quantity(feature, reference);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

void add_groups(ForecastAttribution& attribution) {
  for (size_t f = 0; f < attribution.inputs.size(); ++f) {
    const std::string& group = attribution.inputs[f].group;
    auto found = std::find(attribution.groups.begin(), attribution.groups.end(), group);
    if (found == attribution.groups.end()) {
      attribution.groups.push_back(group);
      attribution.group_log.conservativeResize(attribution.group_log.rows() + 1, attribution.log.cols());
      attribution.group_log.bottomRows(1).setZero();
      found = attribution.groups.end() - 1;
    }
    attribution.group_log.row(found - attribution.groups.begin()) += attribution.log.row(static_cast<Eigen::Index>(f));
  }
}

// 2^groups forecasts: of any predictor.
ForecastAttribution by_groups(const Predictor& predictor, const Profile& profile,
                              const MetricValues& typical_per_instruction) {
  const Attribution found = attribute(predictor, profile, typical_per_instruction);
  ForecastAttribution result;
  result.forecast_log = predictor.predict({&profile}).row(0);
  const Profile typical = typical_like(profile, typical_per_instruction);
  result.baseline_log = predictor.predict({&typical}).row(0);
  result.log.resize(0, result.forecast_log.size());
  result.group_log.resize(static_cast<Eigen::Index>(found.groups.size()), result.forecast_log.size());
  for (size_t g = 0; g < found.groups.size(); ++g) {
    result.groups.push_back(found.groups[g].group);
    result.group_log.row(static_cast<Eigen::Index>(g)) = found.groups[g].log;
  }
  if (result.forecast_log.size() == 0) return result;
  const Eigen::VectorXd sums = result.baseline_log + result.group_log.colwise().sum().transpose();
  result.residue_log = (sums - result.forecast_log).cwiseAbs().maxCoeff();
  return result;
}

std::string method_in_full(const AttributedPart& part) {
  switch (part.method) {
    case AttributionMethod::kAdditive:
      return "additive, exact";
    case AttributionMethod::kTreeShap:
      return "TreeSHAP, exact";
    case AttributionMethod::kIntegratedGradients:
      return fmt::format("integrated gradients, residue {:.0e}", part.residue_log);
    case AttributionMethod::kGroups:
      return "Shapley over groups, exact, and drawn orders within a group";
  }
  return "";
}

void sort_by_size(std::vector<SpreadEffect>& effects) {
  std::stable_sort(effects.begin(), effects.end(),
                   [](const SpreadEffect& a, const SpreadEffect& b) { return std::abs(a.log) > std::abs(b.log); });
}

}  // namespace

Result<ForecastAttribution> attribute_forecast(const Predictor& predictor, const ModelInputs& model_inputs,
                                               const MetricValues& typical_per_instruction, const Profile& profile) {
  const bool is_work = model_inputs.kind() == ModelInputs::Kind::kWork;
  const auto instructions = profile.metrics.find(kInstructionCount);
  if (is_work && (instructions == profile.metrics.end() || !(instructions->second > 0))) {
    return Error{"bad-profile", "without an instruction count nothing tells what a forecast comes from",
                 profile.program, "a profile with instructions_count, as perfcast profile takes"};
  }
  const Profile typical = is_work ? typical_like(profile, typical_per_instruction) : Profile();
  auto found = attribute_features(predictor, {&profile, &typical, group_of_feature});
  if (!found && found.error().code == "no-attribution" && is_work)
    return by_groups(predictor, profile, typical_per_instruction);
  if (!found) return found.error();
  ForecastAttribution result;
  result.inputs = inputs_of(*found, profile, typical, model_inputs);
  result.log = std::move(found->log);
  result.baseline_log = std::move(found->baseline_log);
  result.forecast_log = std::move(found->forecast_log);
  result.residue_log = found->residue_log;
  result.parts = std::move(found->parts);
  result.group_log.resize(0, result.log.cols());
  add_groups(result);
  return result;
}

Result<ForecastAttribution> attribute_forecast(const Bundle& bundle, const Profile& profile) {
  return attribute_forecast(*bundle.predictor, bundle.model_inputs, bundle.typical_rates, profile);
}

Spread spread_of(const ForecastAttribution& attribution, int64_t platform, int64_t against) {
  const auto between = [&](const auto& row) { return row(platform) - (against < 0 ? 0 : row(against)); };
  Spread spread;
  spread.log = between(attribution.forecast_log);
  spread.baseline_log = between(attribution.baseline_log);
  spread.inputs.reserve(attribution.inputs.size());
  for (size_t f = 0; f < attribution.inputs.size(); ++f) {
    const AttributedInput& input = attribution.inputs[f];
    spread.inputs.push_back(
        {input.feature, input.group, input.text, between(attribution.log.row(static_cast<Eigen::Index>(f)))});
  }
  spread.groups.reserve(attribution.groups.size());
  for (size_t g = 0; g < attribution.groups.size(); ++g) {
    const std::string& group = attribution.groups[g];
    spread.groups.push_back(
        {group, group, describe_group(group), between(attribution.group_log.row(static_cast<Eigen::Index>(g)))});
  }
  sort_by_size(spread.inputs);
  sort_by_size(spread.groups);
  return spread;
}

std::string method_name(AttributionMethod method) {
  switch (method) {
    case AttributionMethod::kAdditive:
      return "additive";
    case AttributionMethod::kTreeShap:
      return "tree-shap";
    case AttributionMethod::kIntegratedGradients:
      return "integrated-gradients";
    case AttributionMethod::kGroups:
      return "group-shapley";
  }
  return "";
}

std::string method_in_words(const ForecastAttribution& attribution) {
  std::vector<std::pair<std::string, std::string>> families_of;  // method -> families
  for (const AttributedPart& part : attribution.parts) {
    const std::string method = method_in_full(part);
    const auto same =
        std::find_if(families_of.begin(), families_of.end(), [&](const auto& other) { return other.first == method; });
    if (same == families_of.end()) {
      families_of.emplace_back(method, part.family);
    } else {
      same->second += ", " + part.family;
    }
  }
  std::vector<std::string> told;
  told.reserve(families_of.size() + 1);
  for (const auto& [method, families] : families_of) told.push_back(fmt::format("{}: {}", families, method));
  if (attribution.parts.empty()) told.emplace_back("Shapley over groups, exact");
  told.push_back(attribution.residue_log > 0
                     ? fmt::format("sums are within {:.0e} of the forecast", attribution.residue_log)
                     : "sums are the forecast");
  return join(told, "; ");
}

SpreadEffect effect_of(const Spread& spread, const std::string& text, const std::vector<std::string>& metrics) {
  SpreadEffect together{text, "", text};
  for (const SpreadEffect& input : spread.inputs) {
    const std::vector<std::string> told = metrics_of_feature(input.name);
    const bool tells = std::any_of(told.begin(), told.end(), [&metrics](const std::string& metric) {
      return std::find(metrics.begin(), metrics.end(), metric) != metrics.end();
    });
    if (!tells) continue;
    together.log += input.log;
    if (together.group.empty()) together.group = input.group;
  }
  return together;
}

std::string spread_line(const Spread& spread, const std::string& platform, double least_ratio, size_t most) {
  std::vector<std::string> told;
  std::string verb;  // said once for those of a kind that follow each other
  for (const SpreadEffect& effect : spread.groups) {
    const double ratio = std::exp(effect.log) - 1;
    if (told.size() >= most || std::abs(ratio) < least_ratio) break;
    const std::string does = ratio > 0 ? "loses " : "gains ";
    told.push_back(fmt::format("{}{:.0f}% {} {}", does == verb ? "" : does, std::abs(100 * ratio),
                               ratio > 0 ? "to" : "from", effect.text));
    verb = does;
  }
  if (told.empty()) return "";
  const std::string last = told.back();
  told.pop_back();
  return "on " + platform + " it " + (told.empty() ? "" : join(told, ", ") + " and ") + last;
}

}  // namespace perfcast::program
