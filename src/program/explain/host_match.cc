#include "program/explain/host_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "machine/facts/chip_names.h"
#include "machine/facts/own_machine.h"
#include "machine/facts/processor.h"

namespace perfcast::program {
namespace {

// How much a disagreement counts. Flags weigh more than the model number: a hypervisor may fake the number, but a
// missing instruction set is real to every program. L3 is cut up in virtual machines and says little.
constexpr double kFlagWeight = 3, kFamilyWeight = 4, kModelWeight = 2, kSteppingWeight = 0.25;
constexpr double kNameWordWeight = 0.25;
constexpr double kL1Weight = 2, kL2Weight = 1.5, kL3Weight = 0.25;
constexpr double kCacheAgrees = 0.25;  // |log2 ratio|
// What the host alone states may agree or not: counted as nothing, a platform of which only the name is published would
// be nearer than all whose facts are known.
constexpr double kUnstatedWeight = 0.5;
// Of what decides; among platforms measured on this machine the last.
constexpr double kSameName = 1000, kSameMachine = 2000;
// One name is that of a core, or of a CPU at all providers, the other that of a chip, or of the CPU at one of them.
constexpr double kSameKind = 500;
constexpr double kSameBytes = 1e-6;

// As it names them and as platforms do.
std::set<std::string> flags_of(const HostFacts& host) {
  std::set<std::string> flags(host.cpu_flags.begin(), host.cpu_flags.end());
  for (const std::string& flag : host.cpu_flags) flags.insert(platform_flag(flag));
  return flags;
}

bool has_flag(const Platform& platform, const std::string& flag) {
  return std::find(platform.flags.begin(), platform.flags.end(), flag) != platform.flags.end();
}

bool names_a_model(const std::string& key) {
  return std::any_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
         key.find("0000") == std::string::npos;
}

std::set<std::string> words_of(const std::string& key) {
  std::set<std::string> words;
  for (const std::string& word : split(key, ' ')) words.insert(word);
  return words;
}

// What one side doesn't state contradicts nothing.
bool contradict(const std::string& a, const std::string& b) { return !a.empty() && !b.empty() && a != b; }

struct Comparison {
  double distance = 0;
  std::vector<std::string> differs;  // facts both sides state and disagree on
  bool same_name = false, same_kind = false, same_model = false;
  bool any = false;  // fact that both sides state
};

void compare_number(const std::optional<int64_t>& host, const std::optional<int64_t>& known, double weight,
                    const std::string& what, Comparison& result) {
  if (host && !known) result.distance += kUnstatedWeight * weight;
  if (!host || !known) return;
  result.any = true;
  if (*host == *known) return;
  result.distance += weight;
  if (!what.empty()) result.differs.push_back(what);
}

void compare_cache(const std::optional<double>& host, const Platform& platform, const std::string& fact, double weight,
                   const std::string& what, Comparison& result) {
  const auto known = platform.facts.find(fact);
  if (!host || !(*host > 0)) return;
  if (known == platform.facts.end() || !(known->second > 0)) {
    result.distance += kUnstatedWeight * weight;
    return;
  }
  result.any = true;
  const double apart = std::abs(std::log2(*host / known->second));
  result.distance += weight * std::min(apart, 3.0);
  if (apart > kCacheAgrees && !what.empty()) result.differs.push_back(what);
}

Comparison compare(const HostFacts& host, const std::set<std::string>& host_flags, const Platform& platform,
                   const std::set<std::string>& known_flags) {
  Comparison result;
  compare_number(host.cpu_family, platform.cpu_family, kFamilyWeight, "family", result);
  compare_number(host.model, platform.model, kModelWeight, "model", result);
  compare_number(host.stepping, platform.stepping, kSteppingWeight, "", result);
  if (!host.cpu_flags.empty() && !platform.flags.empty()) {
    result.any = true;
    for (const std::string& flag : known_flags) {
      if (host_flags.contains(flag) == has_flag(platform, flag)) continue;
      result.distance += kFlagWeight;
      result.differs.push_back(flag);
    }
  }
  if (!host.cpu_flags.empty() && platform.flags.empty()) {
    result.distance += kUnstatedWeight * kFlagWeight * static_cast<double>(known_flags.size());
  }
  compare_cache(host.l1d_bytes, platform, "l1d_bytes", kL1Weight, "L1 data cache", result);
  compare_cache(host.l1i_bytes, platform, "l1i_bytes", kL1Weight, "L1 instruction cache", result);
  compare_cache(host.l2_bytes, platform, "l2_bytes", kL2Weight, "L2 cache", result);
  compare_cache(host.l3_bytes, platform, "l3_bytes", kL3Weight, "", result);

  const std::string host_name = cpu_name_key(host.name), known_name = cpu_name_key(platform.name);
  // A name without a number may hide what stands behind it ("Intel Xeon Processor") unless all facts agree.
  const bool same = !host.name.empty() && host.name == platform.name && result.differs.empty();
  result.same_name = same || (!host_name.empty() && host_name == known_name && names_a_model(host_name));
  result.same_kind = !result.same_name && host_name != known_name && may_be_one_cpu(host.name, platform.name);
  if (host_name != known_name) {
    const std::set<std::string> a = words_of(host_name), b = words_of(known_name);
    std::vector<std::string> different;
    std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(different));
    result.distance += kNameWordWeight * static_cast<double>(different.size());
  }
  result.same_model = host.model && platform.model && *host.model == *platform.model && result.differs.empty();
  return result;
}

// A platform that perfcast itself measured on this machine, or on one that tells the same of itself in everything.
bool is_own_machine(const HostFacts& host, const Platform& platform) {
  if (platform.source != kOwnMachineSource || host.cpu_family != platform.cpu_family || host.model != platform.model ||
      host.stepping != platform.stepping) {
    return false;
  }
  std::set<std::string> flags;
  for (const std::string& flag : host.cpu_flags) flags.insert(platform_flag(flag));
  flags.erase("");
  if (flags != std::set<std::string>(platform.flags.begin(), platform.flags.end())) return false;
  bool any = host.model.has_value() || !flags.empty();
  for (const CacheField& field : kCacheFields) {
    const auto known = platform.facts.find(field.name);
    const std::optional<double>& bytes = host.*field.bytes;
    const bool is_known = known != platform.facts.end() && known->second > 0;
    if (bytes.has_value() != is_known) return false;
    if (!bytes) continue;
    if (std::abs(*bytes - known->second) > kSameBytes * *bytes) return false;
    any = true;
  }
  return any;
}

}  // namespace

std::optional<HostMatch> match_host(const HostFacts& host, const std::vector<Platform>& platforms) {
  std::set<std::string> known_flags;
  for (const Platform& platform : platforms) known_flags.insert(platform.flags.begin(), platform.flags.end());

  const std::set<std::string> host_flags = flags_of(host);

  struct Candidate {
    size_t platform;
    double distance;
    bool is_own;
    Comparison comparison;
  };
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < platforms.size(); ++i) {
    const Platform& platform = platforms[i];
    if (platform.kind != "cpu") continue;
    Comparison comparison = compare(host, host_flags, platform, known_flags);
    const std::string arch = arch_key(platform.arch), vendor = vendor_key(platform.vendor);
    const bool is_named = comparison.same_name || comparison.same_kind;
    const bool is_other = is_named
                              ? contradict(arch, arch_key(host.arch)) || contradict(vendor, vendor_key(host.vendor))
                              : arch != arch_key(host.arch) || vendor != vendor_key(host.vendor);
    if (is_other) continue;
    // Nothing is known that could make it near.
    if (host.arch.empty() && host.vendor.empty() && !comparison.any && !is_named) continue;
    // A name that names a model decides; facts then only choose between platforms that share it. What was measured on
    // this very machine is nearer than what others measured on such a model.
    const bool is_own = is_own_machine(host, platform);
    double distance = comparison.distance - (comparison.same_name ? kSameName : comparison.same_kind ? kSameKind : 0);
    if (is_own) distance = -kSameMachine - static_cast<double>(i);
    candidates.push_back({i, distance, is_own, std::move(comparison)});
  }
  if (candidates.empty()) return std::nullopt;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  const Comparison& of_best = candidates.front().comparison;
  std::optional<HostMatch> best = HostMatch{candidates.front().platform, HostMatch::Certainty::kNearest, "", {}};
  const bool is_own = candidates.front().is_own;
  const auto kinds = std::count_if(candidates.begin(), candidates.end(),
                                   [](const Candidate& one) { return one.comparison.same_kind; });
  if (!of_best.same_name && !is_own && kinds != 1) {
    for (size_t i = 1; i < candidates.size() && i <= HostMatch::kRunnersUp; ++i) {
      if (kinds == 0 || candidates[i].comparison.same_kind) best->runners_up.push_back(candidates[i].platform);
    }
  }
  if (of_best.same_name) {
    best->certainty = HostMatch::Certainty::kName;
    best->how = "same model name";
  } else if (is_own) {
    best->certainty = HostMatch::Certainty::kName;
    best->how = "which was measured on a machine with the same facts";
  } else if (of_best.same_kind) {
    best->certainty = kinds == 1 ? HostMatch::Certainty::kName : HostMatch::Certainty::kModel;
    best->how = kinds == 1 ? "the only known one of that name"
                           : fmt::format("one of {} that the name stands for; they differ", kinds);
  } else if (of_best.same_model) {
    best->certainty = HostMatch::Certainty::kModel;
    best->how = "same CPU model number " + std::to_string(*host.model) + ", flags and caches";
    if (host.cpu_family) {
      best->how = "same CPU family " + std::to_string(*host.cpu_family) + " and model " + std::to_string(*host.model);
    }
  } else {
    best->how = "nearest known by CPU model, flags and caches";
    if (!of_best.differs.empty()) best->how += "; differs in " + join(of_best.differs, ", ");
  }
  return best;
}

std::string to_string(HostMatch::Certainty certainty) {
  switch (certainty) {
    case HostMatch::Certainty::kName:
      return "name";
    case HostMatch::Certainty::kModel:
      return "model";
    case HostMatch::Certainty::kNearest:
      return "nearest";
  }
  return "nearest";
}

std::optional<HostMatch> HostMatcher::match(const HostFacts& host) const {
  constexpr size_t kMost = 64;
  const auto find = [&] {
    return std::find_if(known_.begin(), known_.end(), [&](const Known& known) { return known.host == host; });
  };
  {
    const std::lock_guard guard(lock_);
    if (const auto found = find(); found != known_.end()) return found->match;
  }
  auto match = match_host(host, platforms_);
  const std::lock_guard guard(lock_);
  if (find() == known_.end()) known_.push_front({host, match});
  if (known_.size() > kMost) known_.pop_back();
  return match;
}

}  // namespace perfcast::program
