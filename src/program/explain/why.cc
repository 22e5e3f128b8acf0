#include "program/explain/why.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr double kWorthSaying = 0.1;  // share of the deviation
constexpr size_t kGroupsInLine = 2;
constexpr double kUnusualDeviations = 1.5;
constexpr double kNextToNone = 1e-8;  // per instruction: a hundredth of one in a million

std::string share_percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

}  // namespace

std::string rate_in_words(double per_instruction) {
  if (per_instruction == 0) return "none";
  if (per_instruction < kNextToNone) return "next to none";
  if (per_instruction >= 0.1) return fmt::format("{:.3f}", per_instruction);
  if (per_instruction >= 1e-4) return fmt::format("{:.3g} in a thousand", per_instruction * 1e3);
  return fmt::format("{:.3g} in a million", per_instruction * 1e6);
}

std::string standing_in_words(const FeatureStanding& feature) {
  if (feature.deviations > 0) {
    return feature.percentile >= 100 ? "more than in every training program"
                                     : fmt::format("more than in {:.0f}% of the training programs", feature.percentile);
  }
  return feature.percentile <= 0
             ? "less than in every training program"
             : fmt::format("less than in {:.0f}% of the training programs", 100 - feature.percentile);
}

std::string why_line(const Attribution& attribution, const std::vector<FeatureStanding>& features) {
  std::vector<std::string> parts;
  for (const GroupEffect& group : attribution.groups) {
    if (parts.size() >= kGroupsInLine || group.share < kWorthSaying) break;
    std::string part = share_percent(group.share) + (parts.empty() ? " of what sets it apart comes from " : " from ") +
                       describe_group(group.group);
    for (const FeatureStanding& feature : features) {
      if (feature.group != group.group || std::abs(feature.deviations) < kUnusualDeviations) continue;
      part += " (" + feature.text + ": " + standing_in_words(feature) + ")";
      break;
    }
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return "";
  // Shares add up to 100%; what the first groups have above that, the last takes away.
  const GroupEffect& against = attribution.groups.back();
  if (against.share < -kWorthSaying) {
    parts.push_back(describe_group(against.group) + " counts against it (" + share_percent(against.share) + ")");
  }
  return "why: " + join(parts, ", ");
}

}  // namespace perfcast::program
