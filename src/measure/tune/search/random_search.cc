#include "measure/tune/search/random_search.h"

#include <numeric>

namespace perfcast::measure {

RandomSearch::RandomSearch(const Candidates& candidates, uint64_t seed)
    : order_(candidates.size()), told_(candidates.size(), false) {
  std::iota(order_.begin(), order_.end(), size_t{0});
  Random(seed).shuffle(order_);
}

std::optional<size_t> RandomSearch::next() {
  while (at_ < order_.size() && told_[order_[at_]]) ++at_;
  return at_ < order_.size() ? std::optional(order_[at_]) : std::nullopt;
}

void RandomSearch::tell(size_t candidate, std::optional<double> /*cost*/) {
  if (candidate >= told_.size()) told_.resize(candidate + 1, false);
  told_[candidate] = true;
}

}  // namespace perfcast::measure
