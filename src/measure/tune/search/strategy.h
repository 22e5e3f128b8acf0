#pragma once
// What decides which setting is tried next. Costs are above 0, lower is better; how they came about is the caller's.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/tune/search/candidates.h"

namespace perfcast::measure {

class Strategy {
 public:
  virtual ~Strategy() = default;
  // A candidate that was not told yet; nullopt: all were.
  virtual std::optional<size_t> next() = 0;
  // What became of one, whether it was proposed or not; nullopt: it failed. A later call for the same candidate
  // corrects the earlier one.
  virtual void tell(size_t candidate, std::optional<double> cost) = 0;
};

enum class StrategyKind { kSurrogate, kHalving, kRandom, kAnnealing };
std::string name_of(StrategyKind kind);
// All, the default first.
const std::vector<StrategyKind>& strategy_kinds();
// Error "bad-usage" with the names that there are.
Result<StrategyKind> parse_strategy(const std::string& name);

// `trials`: how many will be tried at most, as far as that is known; 0: it isn't. Candidates outlive it. Halving has no
// order of its own: it proposes at random, and whoever runs it decides what is measured again
// (measure/tune/run/tuner.cc).
std::unique_ptr<Strategy> make_strategy(StrategyKind kind, Candidates& candidates, size_t trials, uint64_t seed);

}  // namespace perfcast::measure
