#include "measure/compare/comparison.h"

#include <cmath>

#include "measure/compare/counts.h"

namespace perfcast::measure {
namespace {

constexpr double kSameWithin = 0.01;  // what counts as no difference where no threshold says
// Of the same work: times so close are no difference, while more could be made and when none can.
constexpr double kSameWorkWithin = 0.05, kSameWorkWithinAtLast = 0.1;

}  // namespace

CompareVerdict verdict_of(double log_lower, double log_upper, double threshold_ratio) {
  const double log_threshold = std::log1p(threshold_ratio);
  const double log_same = threshold_ratio > 0 ? log_threshold : std::log1p(kSameWithin);
  if (log_upper < 0) return CompareVerdict::kFaster;
  if (log_lower > log_threshold) return CompareVerdict::kSlower;
  if (log_lower > 0 && log_upper <= log_threshold) return CompareVerdict::kBelowThreshold;
  if (-log_same <= log_lower && log_upper <= log_same) return CompareVerdict::kNoDifference;
  return CompareVerdict::kUnclear;
}

CompareVerdict verdict_by_counts(const Comparison& comparison, bool is_last) {
  if (!comparison.counts_repeat || comparison.counts.empty()) return CompareVerdict::kUnclear;
  const CountRow& instructions = comparison.counts.front();
  const double reach = count_reach(instructions), log_ratio = std::log(instructions.ratio);
  const double same = std::log1p(comparison.threshold_ratio > 0 ? comparison.threshold_ratio : kSameWithin);
  if (log_ratio - reach > same && comparison.upper > 1 + comparison.threshold_ratio) return CompareVerdict::kSlower;
  if (log_ratio + reach < -same && comparison.lower < 1) return CompareVerdict::kFaster;
  const double within = std::log1p(is_last ? kSameWorkWithinAtLast : kSameWorkWithin);
  const bool is_same_work = comparison.counts.size() == 1 && !instructions.differs && reach < same;
  const bool is_close = -within <= std::log(comparison.lower) && std::log(comparison.upper) <= within;
  return is_same_work && is_close && !comparison.significant ? CompareVerdict::kNoDifference : CompareVerdict::kUnclear;
}

std::string name_of(CompareVerdict verdict) {
  switch (verdict) {
    case CompareVerdict::kSlower:
      return "slower";
    case CompareVerdict::kFaster:
      return "faster";
    case CompareVerdict::kNoDifference:
      return "no difference";
    case CompareVerdict::kBelowThreshold:
      return "below the threshold";
    case CompareVerdict::kUnclear:
      break;
  }
  return "unclear";
}

}  // namespace perfcast::measure
