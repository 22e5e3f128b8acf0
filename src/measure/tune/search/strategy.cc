#include "measure/tune/search/strategy.h"

#include "base/text.h"
#include "measure/tune/search/annealing.h"
#include "measure/tune/search/random_search.h"
#include "measure/tune/search/surrogate_search.h"

namespace perfcast::measure {

std::string name_of(StrategyKind kind) {
  switch (kind) {
    case StrategyKind::kSurrogate:
      return "surrogate";
    case StrategyKind::kHalving:
      return "halving";
    case StrategyKind::kRandom:
      return "random";
    case StrategyKind::kAnnealing:
      break;
  }
  return "annealing";
}

const std::vector<StrategyKind>& strategy_kinds() {
  static const std::vector<StrategyKind> kKinds = {StrategyKind::kSurrogate, StrategyKind::kHalving,
                                                   StrategyKind::kRandom, StrategyKind::kAnnealing};
  return kKinds;
}

Result<StrategyKind> parse_strategy(const std::string& name) {
  std::vector<std::string> names;
  for (const StrategyKind kind : strategy_kinds()) {
    names.push_back(name_of(kind));
    if (names.back() == name) return kind;
  }
  return usage_error("bad-usage", "there is no strategy '" + printable(name) + "'", "--strategy", join(names, ", "));
}

std::unique_ptr<Strategy> make_strategy(StrategyKind kind, Candidates& candidates, size_t trials, uint64_t seed) {
  switch (kind) {
    case StrategyKind::kSurrogate:
      return std::make_unique<SurrogateSearch>(candidates, trials, seed);
    case StrategyKind::kAnnealing:
      return std::make_unique<Annealing>(candidates, trials, seed);
    case StrategyKind::kHalving:
    case StrategyKind::kRandom:
      break;
  }
  return std::make_unique<RandomSearch>(candidates, seed);
}

}  // namespace perfcast::measure
