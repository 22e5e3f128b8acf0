#include "measure/compare/bisection.h"

#include <set>

namespace perfcast::measure {

Result<Bisection> bisect(size_t count, const std::function<Result<BisectionVerdict>(size_t)>& judge) {
  Bisection result;
  if (count == 0) return result;
  size_t first = 0, last = count - 1;  // the first bad one is in here
  std::set<size_t> skipped;
  while (first < last) {
    // Of those between, that may be asked for, the one that halves best: of [first, last) as `last` is bad.
    const size_t middle = first + (last - 1 - first) / 2;
    size_t best = last;
    for (size_t distance = 0; best == last && distance <= last - first; ++distance) {
      if (middle >= first + distance && !skipped.contains(middle - distance)) {
        best = middle - distance;
      } else if (middle + distance < last && !skipped.contains(middle + distance)) {
        best = middle + distance;
      }
    }
    if (best == last) break;
    const auto verdict = judge(best);
    if (!verdict) return verdict.error();
    result.judged.push_back(best);
    if (*verdict == BisectionVerdict::kBad) last = best;
    if (*verdict == BisectionVerdict::kGood) first = best + 1;
    if (*verdict == BisectionVerdict::kSkipped) skipped.insert(best);
  }
  result.first = first;
  result.last = last;
  return result;
}

}  // namespace perfcast::measure
