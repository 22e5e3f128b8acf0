#include "program/explain/attribution.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "base/statistics.h"
#include "base/text.h"
#include "profile/metrics/catalogue.h"
#include "program/model/features/work_features.h"

namespace perfcast::program {
namespace {

constexpr const char* kInstructions = "instructions_count";
constexpr double kNoDeviation = 1e-9;
// More groups than this would need too many forecasts; the smallest are then taken together as "other".
constexpr size_t kMaximumGroups = 7;

const char* const kShare = "share_";
const char* const kRate = "rate_";
const char* const kRelative = "relative_";  // cycles of a core model
const char* const kLog = "log_";            // of a plain counter

struct ClassMeaning {
  const char* group;
  const char* text;
};

const std::map<std::string, ClassMeaning>& class_meanings() {
  static const std::map<std::string, ClassMeaning> meanings = {
      {"fp_scalar", {"mix", "scalar float arithmetic"}},
      {"fp_vector", {"mix", "vector float arithmetic"}},
      {"fp_fma", {"mix", "fused multiply-adds"}},
      {"fp_divide", {"mix", "float divisions and roots"}},
      {"x87", {"mix", "long double arithmetic"}},
      {"x87_divide", {"mix", "long double divisions and transcendentals"}},
      {"fp_convert", {"mix", "float conversions"}},
      {"int_multiply", {"mix", "integer multiplications"}},
      {"int_divide", {"mix", "integer divisions"}},
      {"int_divide_64", {"mix", "64-bit integer divisions"}},
      {"shift", {"mix", "shifts"}},
      {"select", {"mix", "conditional moves"}},
      {"call", {"mix", "calls and returns"}},
      {"vector_int", {"mix", "vector integer operations"}},
      {"wide_vector", {"mix", "256-bit and wider vectors"}},
      {"string", {"mix", "string instructions"}},
      {"special", {"mix", "atomics, fences and other special instructions"}},
      {"load", {"memory", "loads"}},
      {"store", {"memory", "stores"}},
      {"narrow_access", {"memory", "accesses of one or two bytes"}},
      {"l2_hit", {"memory", "random accesses that a 1 MiB cache holds"}},
      {"l3_hit", {"memory", "random accesses that a 16 MiB cache holds"}},
      {"memory", {"memory", "random accesses beyond 16 MiB"}},
      {"stream_near", {"memory", "sequential accesses beyond 32 KiB"}},
      {"stream_far", {"memory", "sequential accesses beyond 1 MiB"}},
      {"store_far", {"memory", "stores beyond 1 MiB"}},
      {"tlb_miss", {"memory", "first-level TLB misses"}},
      {"page_walk", {"memory", "page walks"}},
      {"icache_miss", {"memory", "instruction cache misses"}},
      {"branch_miss", {"branch", "branch mispredictions"}},
      {"indirect_miss", {"branch", "indirect branch mispredictions"}},
      {"branch_taken", {"branch", "taken branches"}},
      {"branch", {"branch", "branches"}},
      {"indirect", {"branch", "indirect branches"}},
      {"system_call", {"system", "system calls"}},
      {"page_fault", {"system", "page faults"}},
      {"base", {"work", "plain instructions"}},
  };
  return meanings;
}

std::string without(const std::string& name, const char* prefix) { return name.substr(std::string(prefix).size()); }

// A feature made of a counter names it without its unit.
const Metric* metric_of_feature(const std::string& name) {
  std::string stem = name;
  for (const char* prefix : {kRate, kRelative, kLog}) {
    if (name.starts_with(prefix)) stem = without(name, prefix);
  }
  for (const std::string& candidate : {stem, stem + "_count", stem + "_bytes"}) {
    if (const Metric* metric = Catalogue::built_in().find(candidate)) return metric;
  }
  return nullptr;
}

// Groups of the metrics that features are made of, with those the profile has.
std::map<std::string, std::vector<std::string>> metrics_by_group(const Profile& profile) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const std::string& name : all_feature_metrics()) {
    // What every rate is relative to can't be swapped alone.
    if (name == kInstructions || profile.metrics.find(name) == profile.metrics.end()) continue;
    const Metric* metric = Catalogue::built_in().find(name);
    groups[metric == nullptr ? "other" : metric->group].push_back(name);
  }
  while (groups.size() > kMaximumGroups) {
    auto smallest = groups.end();
    for (auto it = groups.begin(); it != groups.end(); ++it) {
      if (it->first != "other" && (smallest == groups.end() || it->second.size() < smallest->second.size()))
        smallest = it;
    }
    auto names = std::move(smallest->second);
    groups.erase(smallest);
    auto& other = groups["other"];
    other.insert(other.end(), names.begin(), names.end());
  }
  return groups;
}

}  // namespace

Attribution attribute(const Predictor& predictor, const Profile& profile, const MetricValues& typical_per_instruction) {
  Attribution result;
  const auto instructions = profile.metrics.find(kInstructions);
  if (instructions == profile.metrics.end() || !(instructions->second > 0)) return result;
  const auto groups = metrics_by_group(profile);
  const size_t count = groups.size(), subsets = size_t{1} << count;

  Profile base;
  base.instruction_set = profile.instruction_set;
  base.metrics[kInstructions] = instructions->second;
  std::vector<Profile> variants(subsets, base);
  for (size_t subset = 0; subset < subsets; ++subset) {
    size_t g = 0;
    for (const auto& [group, names] : groups) {
      const bool own = (subset >> g++ & 1) != 0;
      for (const std::string& name : names) {
        if (own) {
          variants[subset].metrics[name] = profile.metrics.find(name)->second;
        } else if (const auto typical = typical_per_instruction.find(name); typical != typical_per_instruction.end()) {
          variants[subset].metrics[name] = typical->second * instructions->second;
        }
      }
    }
  }
  std::vector<const Profile*> pointers;
  pointers.reserve(variants.size());
  for (const Profile& variant : variants) pointers.push_back(&variant);
  const Eigen::MatrixXd forecasts = predictor.predict(pointers);  // [subsets x J]

  result.deviation_log = forecasts.row(static_cast<int64_t>(subsets) - 1) - forecasts.row(0);
  const double squared = result.deviation_log.squaredNorm();
  if (count == 0 || !(squared > kNoDeviation * kNoDeviation)) return result;

  // Weight of a subset of s of the other groups: s! (g - s - 1)! / g!
  std::vector<double> weights(count);
  for (size_t s = 0; s < count; ++s) {
    weights[s] = std::exp(std::lgamma(static_cast<double>(s + 1)) + std::lgamma(static_cast<double>(count - s)) -
                          std::lgamma(static_cast<double>(count + 1)));
  }
  size_t g = 0;
  for (const auto& [group, names] : groups) {
    GroupEffect effect{group, 0, Eigen::VectorXd::Zero(forecasts.cols())};
    const size_t bit = size_t{1} << g++;
    for (size_t subset = 0; subset < subsets; ++subset) {
      if ((subset & bit) != 0) continue;
      const double weight = weights[static_cast<size_t>(__builtin_popcountll(subset))];
      effect.log +=
          weight *
          (forecasts.row(static_cast<int64_t>(subset | bit)) - forecasts.row(static_cast<int64_t>(subset))).transpose();
    }
    effect.share = effect.log.dot(result.deviation_log) / squared;
    result.groups.push_back(std::move(effect));
  }
  std::stable_sort(result.groups.begin(), result.groups.end(),
                   [](const GroupEffect& a, const GroupEffect& b) { return a.share > b.share; });
  return result;
}

std::vector<FeatureStanding> standings(const Eigen::RowVectorXd& features, const Eigen::MatrixXd& training,
                                       const std::vector<std::string>& names) {
  std::vector<FeatureStanding> result;
  for (int64_t j = 0; j < features.size() && j < training.cols(); ++j) {
    if (std::isnan(features(j))) continue;
    std::vector<double> values;
    double below = 0;
    for (int64_t i = 0; i < training.rows(); ++i) {
      const double value = training(i, j);
      if (std::isnan(value)) continue;
      values.push_back(value);
      below += value < features(j) ? 1 : value == features(j) ? 0.5 : 0;
    }
    if (values.size() < 3) continue;
    const double spread = std::max(robust_deviation(values), standard_deviation(values) / 4);
    if (!(spread > 1e-12)) continue;
    FeatureStanding standing;
    standing.feature = names[static_cast<size_t>(j)];
    standing.group = group_of_feature(standing.feature);
    standing.text = describe_feature(standing.feature);
    standing.percentile = 100 * below / static_cast<double>(values.size());
    standing.deviations = (features(j) - median(values)) / spread;
    result.push_back(std::move(standing));
  }
  std::stable_sort(result.begin(), result.end(), [](const FeatureStanding& a, const FeatureStanding& b) {
    return std::abs(a.deviations) > std::abs(b.deviations);
  });
  return result;
}

std::string group_of_feature(const std::string& name) {
  if (name.starts_with(kShare)) {
    const auto found = class_meanings().find(without(name, kShare));
    return found == class_meanings().end() ? "mix" : found->second.group;
  }
  const Metric* metric = metric_of_feature(name);
  return metric == nullptr ? "other" : metric->group;
}

std::string describe_feature(const std::string& name) {
  if (name.starts_with(kShare)) {
    const auto found = class_meanings().find(without(name, kShare));
    if (found != class_meanings().end()) return std::string("time in ") + found->second.text;
    std::string words = without(name, kShare);
    std::replace(words.begin(), words.end(), '_', ' ');
    return "time in " + words;
  }
  const Metric* metric = metric_of_feature(name);
  if (metric == nullptr) return name;
  if (name.starts_with(kRelative))
    return "cycles on the modelled core " + metric->sources.begin()->second + ", relative to the mean of all cores";
  std::string text = metric->description;
  // How a modelled cache works is for the catalogue.
  for (const std::string_view detail : {" LRU", " 8-way", " 12-way", " (not near recent misses)"}) {
    if (const size_t at = text.find(detail); at != std::string::npos) text.erase(at, detail.size());
  }
  // "Direct calls" within a sentence; "TLB misses" stays.
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return name.starts_with(kLog) ? text : text + " per instruction";
}

std::string describe_group(const std::string& group) {
  static const std::map<std::string, std::string> names = {
      {"work", "the amount of work"},
      {"mix", "the instruction mix"},
      {"memory", "memory and caches"},
      {"latency", "chains of dependent instructions"},
      {"core", "models of cores"},
      {"branch", "branch behaviour"},
      {"system", "system calls, page faults and I/O"},
      {"time", "the host's own timing"},
      {"other", "other counters"},
  };
  const auto found = names.find(group);
  return found == names.end() ? group : found->second;
}

}  // namespace perfcast::program
