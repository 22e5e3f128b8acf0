#pragma once
// Which of a run's processes are instrumented. Of many alike (a build's compilers) a random subset is enough: the
// others run natively, and what was counted stands for them by the CPU time that both took natively.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/process/process_census.h"
#include "base/result.h"

namespace perfcast {

// Programs of one name that one program started: each with all that it starts in turn is a member.
struct FollowGroup {
  std::string program;  // name of its file
  size_t members = 0, followed = 0;
  double cpu_s = 0, followed_cpu_s = 0;  // native, of all members and of those that are followed
  // What a count of a followed member stands for.
  double weight() const { return followed_cpu_s > 0 ? cpu_s / followed_cpu_s : double(members) / double(followed); }
  bool operator==(const FollowGroup&) const = default;
};

// Of `total` executions with these arguments, `followed`; which, is drawn with the rest of the plan.
struct FollowRule {
  uint64_t arguments_hash = 0;  // see hash_of_arguments()
  uint32_t total = 0, followed = 0, offset = 0, group = 0;
  bool operator==(const FollowRule&) const = default;
};

struct FollowPlan {
  std::vector<FollowGroup> groups;
  std::vector<FollowRule> rules;  // by hash; executions of no rule are followed
  std::vector<double> weights() const;
};

// FNV-1a of all arguments, each with the zero behind it; the plugin computes the same.
uint64_t hash_of_arguments(const std::vector<std::string>& arguments);

struct FollowLimits {
  double slowdown = 20;          // expected of an instrumented process
  double start_s = 0.06;         // and of its start
  double native_multiple = 1.5;  // the instrumented run is to take about this many times the native CPU time ...
  double least_s = 8;            // ... and this much
  size_t least_members = 12;     // of a group, are followed
  uint64_t seed = 1;
};

// Empty where everything can be followed within the limits, or nothing is alike.
FollowPlan plan_following(const std::vector<CensusEntry>& census, const FollowLimits& limits = {});

// As the plugin maps it: 8 bytes "pqplan1\0", the number of rules in 8 bytes, then per rule 8 bytes of hash and 4 bytes
// each of total, followed, offset, group, executions seen so far (0) and 4 of padding; host byte order, hashes rise.
std::string plan_file(const FollowPlan& plan);

}  // namespace perfcast
