#include "measure/compare/comparison.h"

#include <cmath>

namespace perfcast::measure {
namespace {

constexpr double kSameWithin = 0.01;  // what counts as no difference where no threshold says

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
