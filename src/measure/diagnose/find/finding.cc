#include "measure/diagnose/find/finding.h"

#include <algorithm>

#include "base/text.h"

namespace perfcast::measure {
namespace {

std::string assignment(std::string variable, const std::string& value) {
  variable += '=';
  variable += value;
  return variable;
}

}  // namespace

std::string_view to_text(FindingBasis basis) {
  switch (basis) {
    case FindingBasis::kMeasured:
      return "measured";
    case FindingBasis::kModelled:
      return "modelled";
    case FindingBasis::kRule:
      break;
  }
  return "rule";
}

std::string Experiment::in_words() const {
  if (!flags.empty()) return flags;
  std::vector<std::string> words;
  for (const std::string& variable : unset) words.push_back("-u " + variable);
  for (const auto& [variable, value] : environment) words.push_back(assignment(variable, value));
  for (const std::string& word : prefix) words.push_back(word);
  if (!program.empty()) words.push_back(program);
  return join(words, " ");
}

std::vector<std::string> Experiment::command(const std::vector<std::string>& as_it_is) const {
  if (!instead.empty()) return instead;
  // Both sides of a comparison start alike: by env, even where it has nothing to set.
  std::vector<std::string> result = {"env"};
  for (const std::string& variable : unset) {
    result.emplace_back("-u");
    result.push_back(variable);
  }
  for (const auto& [variable, value] : environment) result.push_back(assignment(variable, value));
  result.insert(result.end(), prefix.begin(), prefix.end());
  const bool is_replaced = !program.empty() && !as_it_is.empty();
  if (is_replaced) result.push_back(program);
  result.insert(result.end(), as_it_is.begin() + (is_replaced ? 1 : 0), as_it_is.end());
  return result;
}

Experiment compiled_with(const std::string& flags) {
  Experiment experiment;
  experiment.name = "compiled with " + flags;
  experiment.flags = flags;
  // Sums in another order, no infinities: right for some programs, whatever the output of this one run is.
  experiment.changes_results = flags.find("-ffast-math") != std::string::npos;
  return experiment;
}

namespace {

// Of the events that it is to take away: fewer are no test, so many are one.
constexpr double kIgnored = 0.2, kTested = 0.5;
constexpr double kNothingGained = 0.02;
constexpr double kScreeningError = 0.04;  // of a ratio by two pairs

}  // namespace

bool ExperimentResult::is_ignored() const { return removed_ratio && *removed_ratio < kIgnored; }

std::optional<double> ExperimentResult::most_gain() const {
  const bool is_test = experiment.bounds_gain || experiment.is_remedy || removed_ratio.value_or(0) >= kTested;
  if (!is_test || !failed.empty() || !is_timed() || output_differs || experiment.changes_results) return std::nullopt;
  // Two pairs alone may be off.
  const double saved = 1 - (is_screened ? ratio - kScreeningError : ratio);
  return std::max(0.0, saved) / removed_ratio.value_or(1);
}

const ExperimentResult* Finding::contradiction() const {
  double most = 0;
  const ExperimentResult* found = nullptr;
  for (const ExperimentResult& result : results) {
    const auto gain = result.most_gain();
    if (!gain) continue;
    if (found == nullptr || *gain > most) found = &result;
    most = std::max(most, *gain);
  }
  const bool nothing =
      found != nullptr && (found->is_screened ? found->ratio >= 1 - kNothingGained : most < kNothingGained);
  return nothing && proven() == nullptr ? found : nullptr;
}

const ExperimentResult* Finding::proven() const {
  const ExperimentResult* best = nullptr;
  for (const ExperimentResult& result : results) {
    if (result.failed.empty() && result.is_gain() && (best == nullptr || result.ratio < best->ratio)) best = &result;
  }
  return best;
}

bool Finding::has_builds() const {
  return std::any_of(results.begin(), results.end(),
                     [](const ExperimentResult& result) { return !result.experiment.flags.empty(); });
}

}  // namespace perfcast::measure
