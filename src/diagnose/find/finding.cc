#include "diagnose/find/finding.h"

#include "base/text.h"

namespace perfcast {
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
  std::vector<std::string> words;
  for (const std::string& variable : unset) words.push_back("-u " + variable);
  for (const auto& [variable, value] : environment) words.push_back(assignment(variable, value));
  for (const std::string& word : prefix) words.push_back(word);
  if (!program.empty()) words.push_back(program);
  return join(words, " ");
}

std::vector<std::string> Experiment::command(const std::vector<std::string>& command) const {
  // Both sides of a comparison start alike: by env, even where it has nothing to set.
  std::vector<std::string> result = {"env"};
  for (const std::string& variable : unset) {
    result.emplace_back("-u");
    result.push_back(variable);
  }
  for (const auto& [variable, value] : environment) result.push_back(assignment(variable, value));
  result.insert(result.end(), prefix.begin(), prefix.end());
  const bool is_replaced = !program.empty() && !command.empty();
  if (is_replaced) result.push_back(program);
  result.insert(result.end(), command.begin() + (is_replaced ? 1 : 0), command.end());
  return result;
}

const ExperimentResult* Finding::proven() const {
  const ExperimentResult* best = nullptr;
  for (const ExperimentResult& result : results) {
    if (result.failed.empty() && result.is_gain() && (best == nullptr || result.ratio < best->ratio)) best = &result;
  }
  return best;
}

}  // namespace perfcast
