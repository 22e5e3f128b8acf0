#include "ai/rules/training_goal.h"

#include <fmt/format.h>

#include "base/text.h"

namespace perfcast::ai {
namespace {

std::string quality_of(const TrainingRule& rule) {
  std::string text = rule.quality;
  if (!rule.model.empty()) text += ", " + rule.model;
  if (!rule.dataset.empty()) text += (rule.model.empty() ? ", " : " on ") + rule.dataset;
  if (!rule.version.empty()) text += ", " + rule.version;
  return text;
}

}  // namespace

Result<TrainingGoal> training_goal_of(const BenchRules& rules, const std::string& benchmark,
                                      const TrainingGiven& given) {
  const TrainingRule* const rule = find_training_rule(rules, benchmark);
  if (rule == nullptr) {
    std::vector<std::string> names;
    names.reserve(rules.training.size());
    for (const TrainingRule& known : rules.training) names.push_back(known.name);
    return usage_error("bad-usage", "there is no training benchmark '" + printable(benchmark) + "'", "--benchmark",
                       "one of: " + join(names, ", "));
  }
  TrainingGoal goal;
  goal.benchmark = rule->name;
  goal.quality = quality_of(*rule);
  goal.metric = given.metric.empty() ? rule->metric : given.metric;
  goal.threshold = given.threshold ? given.threshold : rule->target;
  goal.lower_is_better = given.lower_is_better || !rule->larger_is_better;
  if (!rule->metric.empty() && goal.metric != rule->metric) {
    goal.notes.push_back("the metric is '" + goal.metric + "', the benchmark's is '" + rule->metric + "'");
  }
  const bool is_turned = goal.lower_is_better == rule->larger_is_better;
  if (is_turned) {
    goal.notes.emplace_back("lower is taken for better, the benchmark's metric is the better the larger it is");
  }
  if (rule->target && *goal.threshold != *rule->target) {
    const bool is_easier = (*goal.threshold < *rule->target) != goal.lower_is_better;
    const char* const how = is_turned ? "another" : is_easier ? "easier" : "harder";
    goal.notes.push_back(
        fmt::format("the threshold {:g} is {} than the benchmark's {:g}", *goal.threshold, how, *rule->target));
  }
  if (!rule->not_held.empty()) {
    goal.notes.push_back("of the benchmark's quality " + rule->metric + " alone is held, not " +
                         join(rule->not_held, ", "));
  }
  return goal;
}

std::string percent_note(const TrainingGoal& goal, double largest_evaluation) {
  const bool is_share = !goal.lower_is_better && goal.threshold && *goal.threshold > 0 && *goal.threshold < 1;
  if (!is_share || !(largest_evaluation > 1)) return "";
  return fmt::format(
      "values up to {:.6g} were printed, and the threshold is {:g}, a share of 1: if they are in percent it was "
      "reached "
      "too soon; --threshold {:g} is the same in percent",
      largest_evaluation, *goal.threshold, 100 * *goal.threshold);
}

}  // namespace perfcast::ai
