#pragma once

#include "base/random.h"
#include "measure/tune/search/strategy.h"

namespace perfcast::measure {

// Each candidate once, in an order that is drawn.
class RandomSearch : public Strategy {
 public:
  RandomSearch(const Candidates& candidates, uint64_t seed);
  std::optional<size_t> next() override;
  void tell(size_t candidate, std::optional<double> cost) override;

 private:
  std::vector<size_t> order_;
  size_t at_ = 0;
  std::vector<bool> told_;
};

}  // namespace perfcast::measure
