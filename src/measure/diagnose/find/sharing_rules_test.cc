#include <gtest/gtest.h>

#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {
namespace {

// Two threads that were busy on two CPUs for a second, most of it in "add".
Observation two_busy() {
  Observation seen;
  seen.run.exit_code = 0;
  seen.run.wall_s = 1;
  seen.run.user_s = 2;
  seen.run.threads = 3;
  seen.samples_count = 2000;
  seen.role_share[static_cast<size_t>(CodeRole::kOwn)] = 1;
  HotFunction function;
  function.function = "add";
  function.cpu_share = 0.8;
  seen.functions = {function};
  return seen;
}

SharedPlace place_of(uint64_t first, uint64_t second) {
  SharedPlace place;
  place.line.address = 0x1000;
  place.line.transfers_count = 1e5;
  place.line.of_data_count = (first & second) != 0 ? 9e4 : 20;
  place.line.users.resize(2);
  for (size_t i = 0; i < 2; ++i) {
    place.line.users[i].thread = static_cast<int64_t>(i) + 2;
    place.line.users[i].writes_count = 1e5;
    place.line.users[i].atomic_count = 5e4;
    place.line.users[i].written = i == 0 ? first : second;
  }
  place.functions = {"add (sum.cc:12)", "add (sum.cc:14)"};
  place.roles = {CodeRole::kOwn, CodeRole::kOwn};
  return place;
}

class Sharing : public testing::Test {
 protected:
  Sharing() {
    profile_.metrics["memory_accesses_count"] = 1e8;
    evidence_.profile = &profile_;
    evidence_.cpus_count = 2;
    evidence_.costs.line_transfer_s = 50e-9;
    evidence_.has_shared_lines = true;
    evidence_.shared_accesses_count = 2e6;
  }
  std::vector<Finding> find() const {
    std::vector<Finding> findings;
    find_in_sharing(evidence_, findings);
    return findings;
  }
  Observation seen_ = two_busy();
  Profile profile_;
  Evidence evidence_{seen_};
};

TEST_F(Sharing, IsFalseWhereBytesDiffer) {
  evidence_.shared_lines = {place_of(0xff, 0xff00)};
  const auto findings = find();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, "false-sharing");
  EXPECT_EQ(findings[0].basis, FindingBasis::kModelled);
  EXPECT_FALSE(findings[0].is_shown_by_trial);
  // 1e8 accesses, a twentieth of them a transfer of 50 ns: an eighth of 2 s of CPU time.
  EXPECT_NEAR(findings[0].gain_ratio, 0.9 * 0.125, 1e-9);
  EXPECT_EQ(findings[0].evidence[0],
            "line of 64 bytes at 0x1000: thread 2 writes bytes 0-7 in add (sum.cc:12), "
            "thread 3 writes bytes 8-15 in add (sum.cc:14)");
  ASSERT_EQ(findings[0].experiments.size(), 1U);
  EXPECT_TRUE(findings[0].experiments[0].bounds_gain);
}

TEST_F(Sharing, IsTrueWhereBytesMeet) {
  evidence_.shared_lines = {place_of(0xff, 0xff)};
  const auto findings = find();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, "true-sharing");
  EXPECT_EQ(findings[0].evidence.back(), "50% of their writes are atomic");
}

TEST_F(Sharing, TakesNoMoreThanTheFunctionsThatWrite) {
  evidence_.shared_lines = {place_of(0xff, 0xff00)};
  evidence_.costs.line_transfer_s = 1e-6;
  EXPECT_NEAR(find().front().gain_ratio, 0.9 * 0.8, 1e-9);
  seen_.functions[0].cpu_share = 0.04;
  EXPECT_TRUE(find().empty());
}

TEST_F(Sharing, NeedsATrialWhereThreadsHardlyMet) {
  evidence_.shared_lines = {place_of(0xff, 0xff00)};
  evidence_.shared_lines[0].line.transfers_count = 40;
  evidence_.shared_lines[0].line.of_data_count = 0;
  const auto findings = find();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, "false-sharing");
  EXPECT_TRUE(findings[0].is_shown_by_trial);
  EXPECT_EQ(findings[0].gain_ratio, 0);
  EXPECT_TRUE(findings[0].experiments[0].bounds_gain);
}

TEST_F(Sharing, IsNobodysWhereNoLineWasSeen) {
  EXPECT_TRUE(find().empty());
  // One that is used little is of no matter, however often it is handed on.
  evidence_.shared_lines = {place_of(0xff, 0xff)};
  for (LineUser& user : evidence_.shared_lines[0].line.users) user.writes_count = 1000;
  EXPECT_TRUE(find().empty());
  // Locks have a cause of their own.
  evidence_.shared_lines = {place_of(0xff, 0xff)};
  evidence_.shared_lines[0].roles[1] = CodeRole::kLock;
  EXPECT_TRUE(find().empty());
}

TEST_F(Sharing, IsSuspectedWhereNobodyLooked) {
  evidence_.has_shared_lines = false;
  const auto findings = find();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, "false-sharing");
  EXPECT_TRUE(findings[0].is_shown_by_trial);
  EXPECT_EQ(findings[0].gain_ratio, 0);
  EXPECT_FALSE(findings[0].experiments[0].bounds_gain);
  // What ran on one CPU at a time shares nothing.
  seen_.run.user_s = 1;
  EXPECT_TRUE(find().empty());
}

}  // namespace
}  // namespace perfcast::measure
