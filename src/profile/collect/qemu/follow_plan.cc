#include "profile/collect/qemu/follow_plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <utility>

namespace perfcast {
namespace {

// The tree of programs: an entry that only copies its parent's program is part of it.
class Tree {
 public:
  explicit Tree(const std::vector<CensusEntry>& census) : census_(census) {
    cpu_s_.resize(census.size());
    spawner_.assign(census.size(), -1);
    for (size_t i = 0; i < census.size(); ++i) {
      cpu_s_[i] = census[i].cpu_s;
      int at = census[i].started_by;
      while (at >= 0 && census[static_cast<size_t>(at)].forked) at = census[static_cast<size_t>(at)].started_by;
      spawner_[i] = at;
    }
    // Who starts stands before who is started.
    for (size_t i = census.size(); i-- > 0;) {
      if (census[i].started_by >= 0) cpu_s_[static_cast<size_t>(census[i].started_by)] += cpu_s_[i];
    }
  }
  double total_s() const { return cpu_s_.empty() ? 0 : cpu_s_[0]; }
  double cpu_s(size_t entry) const { return cpu_s_[entry]; }  // with all that it started
  int spawner(size_t entry) const { return spawner_[entry]; }
  // A process of its own that can run without the emulator: started by a fork and an exec.
  bool is_unit(size_t entry) const {
    const int before = census_[entry].started_by;
    return !census_[entry].forked && before >= 0 && census_[static_cast<size_t>(before)].forked;
  }

 private:
  const std::vector<CensusEntry>& census_;
  std::vector<double> cpu_s_;
  std::vector<int> spawner_;
};

}  // namespace

std::vector<double> FollowPlan::weights() const {
  std::vector<double> result;
  for (const FollowGroup& group : groups) result.push_back(group.weight());
  return result;
}

uint64_t hash_of_arguments(const std::vector<std::string>& arguments) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::string& argument : arguments) {
    for (const char c : argument) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    hash *= 0x100000001b3u;
  }
  return hash;
}

FollowPlan plan_following(const std::vector<CensusEntry>& census, const FollowLimits& limits) {
  FollowPlan plan;
  const Tree tree(census);
  size_t execs = 0;
  for (const CensusEntry& entry : census) execs += entry.forked ? 0 : 1;
  const double all_s = limits.slowdown * tree.total_s() + limits.start_s * static_cast<double>(execs);
  const double wanted_s = limits.native_multiple * tree.total_s() + limits.least_s;
  if (all_s <= wanted_s) return plan;
  const double share = wanted_s / all_s;

  std::map<std::pair<int, std::string>, std::vector<size_t>> alike;
  for (size_t i = 0; i < census.size(); ++i) {
    if (tree.is_unit(i)) alike[{tree.spawner(i), census[i].name()}].push_back(i);
  }
  std::mt19937_64 random(limits.seed);
  std::map<uint64_t, FollowRule> rules;
  std::vector<bool> inside(census.size(), false);  // of a member of a group
  // Spawners rise with their entries: a group is met before groups inside of its members.
  for (auto& [key, members] : alike) {
    for (int at = key.first; at >= 0; at = census[static_cast<size_t>(at)].started_by) {
      if (inside[static_cast<size_t>(at)]) inside[static_cast<size_t>(key.first)] = true;
    }
    if (inside[static_cast<size_t>(key.first)]) continue;
    const size_t followed =
        std::max(limits.least_members, static_cast<size_t>(std::ceil(share * double(members.size()))));
    if (followed >= members.size()) continue;
    FollowGroup group{key.second, members.size(), followed, 0, 0};
    // Every so-manieth in the order of CPU time, from a random first: small and large ones in their proportion.
    std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) { return tree.cpu_s(a) < tree.cpu_s(b); });
    const double step = double(members.size()) / double(followed);
    const double first = std::uniform_real_distribution<double>(0, step)(random);
    std::vector<bool> drawn(members.size(), false);
    for (size_t k = 0; k < followed; ++k) {
      drawn[std::min(members.size() - 1, static_cast<size_t>(first + step * static_cast<double>(k)))] = true;
    }
    struct Same {
      uint32_t total = 0, followed = 0;
      double cpu_s = 0;
    };
    std::map<uint64_t, Same> by_hash;
    for (size_t m = 0; m < members.size(); ++m) {
      inside[members[m]] = true;
      Same& same = by_hash[hash_of_arguments(census[members[m]].arguments)];
      ++same.total;
      same.followed += drawn[m] ? 1 : 0;
      same.cpu_s += tree.cpu_s(members[m]);
    }
    for (const auto& [hash, same] : by_hash) {
      group.cpu_s += same.cpu_s;
      group.followed_cpu_s += same.cpu_s * same.followed / same.total;
      const auto offset = static_cast<uint32_t>(random() % same.total);
      // The same command of another group: whoever comes first has the rule.
      rules.emplace(hash,
                    FollowRule{hash, same.total, same.followed, offset, static_cast<uint32_t>(plan.groups.size())});
    }
    plan.groups.push_back(std::move(group));
  }
  for (const auto& [hash, rule] : rules) plan.rules.push_back(rule);
  return plan;
}

std::string plan_file(const FollowPlan& plan) {
  std::string bytes("pqplan1\0", 8);
  const auto put = [&](auto value) {
    const size_t at = bytes.size();
    bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  put(static_cast<uint64_t>(plan.rules.size()));
  for (const FollowRule& rule : plan.rules) {
    put(rule.arguments_hash);
    for (const uint32_t field : {rule.total, rule.followed, rule.offset, rule.group, uint32_t{0}, uint32_t{0}})
      put(field);
  }
  return bytes;
}

}  // namespace perfcast
