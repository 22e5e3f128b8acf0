#include "profile/whole_metrics.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace perfcast {
namespace {

constexpr double kSame = 1e-9;

bool is_amount(const std::string& name) { return name.ends_with("_count") || name.ends_with("_bytes"); }

// By the instrumenter, or modelled from what it saw.
bool is_counted(const std::string& name) {
  if (!is_amount(name)) return false;
  if (name.starts_with("core_")) return true;
  const Metric* metric = Catalogue::built_in().find(name);
  return metric != nullptr && metric->kind == "counter" && metric->sources.contains("qemu");
}

bool is_derived(const std::string& name) {
  const Metric* metric = Catalogue::built_in().find(name);
  return metric != nullptr && metric->kind == "derived";
}

MetricValues counters_of(const MetricValues& metrics) {
  MetricValues counters;
  for (const auto& [name, value] : metrics) {
    if (!is_derived(name)) counters.emplace(name, value);
  }
  return counters;
}

MetricValues stretched(MetricValues metrics, double factor) {
  for (auto& [name, value] : metrics) {
    if (is_counted(name)) value *= factor;
  }
  return metrics;
}

}  // namespace

WholeAndPart split_by_part(const MetricValues& metrics, double seen_ratio) {
  WholeAndPart split;
  // What changes where all counts double is no ratio of two of them.
  const MetricValues doubled = Catalogue::built_in().derive(stretched(counters_of(metrics), 2));
  // And what is there without any count is not of the part.
  MetricValues others = counters_of(metrics);
  std::erase_if(others, [](const auto& entry) { return is_counted(entry.first); });
  others = Catalogue::built_in().derive(others);
  const bool keeps_ratios = seen_ratio >= kShareWithRatios;
  for (const auto& [name, value] : metrics) {
    const auto other = keeps_ratios ? doubled.find(name) : others.find(name);
    const bool is_there = other != (keeps_ratios ? doubled.end() : others.end());
    if (is_counted(name)) {
      split.part.emplace(name, seen_ratio * value);
    } else if (!is_derived(name) || (is_there && std::abs(other->second - value) <= kSame * std::abs(value))) {
      split.whole.emplace(name, value);
    }
  }
  return split;
}

MetricValues join_with_part(const MetricValues& whole, const MetricValues& part, double seen_ratio) {
  MetricValues counters = counters_of(whole);
  if (seen_ratio > 0) counters.merge(stretched(part, 1 / seen_ratio));
  MetricValues metrics = Catalogue::built_in().derive(counters);
  for (const auto& [name, value] : whole) metrics.emplace(name, value);
  return metrics;
}

bool knows_whole_counts(const Profile& profile) {
  return !profile.partly_seen || profile.partly_seen->knows_whole_counts;
}

MetricValues whole_metrics(const Profile& profile) {
  if (knows_whole_counts(profile)) return profile.metrics;
  return split_by_part(profile.metrics, profile.partly_seen->seen_ratio).whole;
}

}  // namespace perfcast
