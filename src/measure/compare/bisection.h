#pragma once
// The first bad one of a row that is good before and bad from there on.

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"

namespace perfcast::measure {

enum class BisectionVerdict {
  kGood,
  kBad,
  kSkipped,  // can't be told: it doesn't build, or doesn't run
};

struct Bisection {
  // The first bad one lies in [first, last]: they are one where nothing had to be skipped between.
  size_t first = 0, last = 0;
  std::vector<size_t> judged;  // in the order of asking
};

// Of `count` items, of which the last is known to be bad and what is before the first to be good. Asks for the item
// nearest to the middle of what is left, the earlier of two. Errors: those of `judge`.
Result<Bisection> bisect(size_t count, const std::function<Result<BisectionVerdict>(size_t)>& judge);

}  // namespace perfcast::measure
