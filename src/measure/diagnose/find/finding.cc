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
