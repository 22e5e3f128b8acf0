#include "profile/collect/qemu/follow_plan.h"

#include <gmock/gmock.h>

#include <numeric>

namespace perfcast {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// A build: make forks, each copy becomes a driver, whose own copy becomes a compiler.
std::vector<CensusEntry> build_of(size_t files, double compiler_s, bool same_arguments = false) {
  std::vector<CensusEntry> census;
  const auto add = [&](int by, bool forked, const std::string& program, std::vector<std::string> arguments,
                       double cpu_s) {
    CensusEntry entry;
    entry.process = static_cast<pid_t>(100 + census.size());
    entry.started_by = by;
    entry.forked = forked;
    entry.program = "/usr/bin/" + program;
    entry.arguments = std::move(arguments);
    entry.cpu_s = cpu_s;
    census.push_back(std::move(entry));
    return static_cast<int>(census.size()) - 1;
  };
  const int make = add(-1, false, "make", {"make"}, 0.01);
  for (size_t i = 0; i < files; ++i) {
    const std::string file = same_arguments ? "a.c" : "f" + std::to_string(i) + ".c";
    const int copy = add(make, true, "make", {"make"}, 0);
    const int driver = add(copy, false, "gcc", {"gcc", "-c", file}, 0.001);
    const int second = add(driver, true, "gcc", {"gcc", "-c", file}, 0);
    add(second, false, "cc1", {"cc1", file}, compiler_s * static_cast<double>(1 + i % 5));
  }
  return census;
}

TEST(FollowPlan, FollowsEverythingThatIsSmall) {
  EXPECT_THAT(plan_following({}).rules, IsEmpty());
  EXPECT_THAT(plan_following(build_of(3, 10)).rules, IsEmpty());      // too few that are alike
  EXPECT_THAT(plan_following(build_of(20, 0.001)).rules, IsEmpty());  // quick enough
}

TEST(FollowPlan, DrawsASubsetOfWhatIsAlikeWithAllThatItStarts) {
  const auto census = build_of(100, 0.1);
  const FollowPlan plan = plan_following(census);
  ASSERT_THAT(plan.groups, SizeIs(1));  // of drivers: their compilers come with them
  const FollowGroup& group = plan.groups[0];
  EXPECT_EQ(group.program, "gcc");
  EXPECT_EQ(group.members, 100u);
  EXPECT_GE(group.followed, 12u);
  EXPECT_LT(group.followed, 50u);
  EXPECT_NEAR(group.cpu_s, 100 * (0.001 + 0.3), 1e-9);
  EXPECT_THAT(plan.rules, SizeIs(100));
  size_t followed = 0;
  for (const FollowRule& rule : plan.rules) followed += rule.followed;
  EXPECT_EQ(followed, group.followed);
  // Drawn in the order of CPU time, the subset has nearly its share of it.
  EXPECT_NEAR(group.weight(), 100.0 / static_cast<double>(group.followed), 0.15 * group.weight());
  EXPECT_EQ(plan_following(census).rules, plan.rules);
  FollowLimits other;
  other.seed = 2;
  EXPECT_NE(plan_following(census, other).rules, plan.rules);
}

TEST(FollowPlan, CountsExecutionsOfTheSameCommand) {
  const FollowPlan plan = plan_following(build_of(100, 0.1, true));
  ASSERT_THAT(plan.rules, SizeIs(1));
  EXPECT_EQ(plan.rules[0].total, 100u);
  EXPECT_EQ(plan.rules[0].followed, plan.groups[0].followed);
  EXPECT_LT(plan.rules[0].offset, 100u);
}

TEST(FollowPlan, WeighsByCountWhereThereIsNoTime) {
  EXPECT_EQ((FollowGroup{"x", 30, 12, 0, 0}).weight(), 2.5);
  EXPECT_EQ((FollowGroup{"x", 30, 12, 9, 3}).weight(), 3);
}

TEST(FollowPlan, IsWrittenForThePlugin) {
  FollowPlan plan;
  plan.rules = {{1, 2, 3, 4, 5}};
  EXPECT_EQ(plan_file(plan), std::string("pqplan1\0"
                                         "\1\0\0\0\0\0\0\0"
                                         "\1\0\0\0\0\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0",
                                         48));
  EXPECT_EQ(hash_of_arguments({}), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_of_arguments({""}), 0xcbf29ce484222325u * 0x100000001b3u);
  EXPECT_NE(hash_of_arguments({"a", "b"}), hash_of_arguments({"ab"}));
}

}  // namespace
}  // namespace perfcast
