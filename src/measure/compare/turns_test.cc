#include "measure/compare/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "measure/compare/paired_sequence.h"
#include "profile/collect/qemu/qemu_collector.h"

namespace perfcast::measure {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::vector<std::string> work(int rounds) { return {PERFCAST_GUINEA, "work", std::to_string(rounds)}; }

CompareRequest of(std::vector<std::string> a, std::vector<std::string> b) {
  CompareRequest request;
  request.commands = {std::move(a), std::move(b)};
  request.counted_runs = 0;
  request.budget_s = 10;
  return request;
}

TEST(CompareInTurns, FindsWhatTakesTenTimesAsLong) {
  CompareRequest request = of(work(1'000'000), work(10'000'000));
  std::vector<ComparedRun> runs;
  request.record = [&](const ComparedRun& run) {
    runs.push_back(run);
    return Status();
  };
  const auto slower = compare_in_turns(request);
  ASSERT_TRUE(slower) << to_text(slower.error());
  EXPECT_EQ(slower->verdict, CompareVerdict::kSlower);
  EXPECT_TRUE(slower->significant);
  EXPECT_GT(slower->lower, 1.2);
  EXPECT_GT(slower->ratio, 2);
  EXPECT_LT(slower->ratio, 20);
  EXPECT_GE(slower->pairs, fewest_pairs(0.05));
  EXPECT_EQ(slower->runs, 2 * slower->pairs);
  ASSERT_EQ(static_cast<int64_t>(runs.size()), 2 * slower->pairs + 2);
  EXPECT_EQ(runs[0].pair, 0);
  std::map<int, int> first_of;  // the coin falls either way, and each pair has both
  for (size_t i = 2; i < runs.size(); i += 2) {
    EXPECT_TRUE(runs[i].first && !runs[i + 1].first);
    EXPECT_EQ(runs[i].command + runs[i + 1].command, 1);
    EXPECT_EQ(runs[i].pair, runs[i + 1].pair);
    ++first_of[runs[i].command];
  }
  EXPECT_EQ(first_of.size(), 2u);

  std::swap(request.commands[0], request.commands[1]);
  const auto faster = compare_in_turns(request);
  ASSERT_TRUE(faster);
  EXPECT_EQ(faster->verdict, CompareVerdict::kFaster);
  EXPECT_LT(faster->upper, 1);
}

TEST(CompareInTurns, AThresholdAllowsWhatLiesBelow) {
  CompareRequest request = of(work(3'000'000), work(6'000'000));
  request.threshold_ratio = 9;
  request.time = ComparedTime::kCpu;
  const auto allowed = compare_in_turns(request);
  ASSERT_TRUE(allowed) << to_text(allowed.error());
  EXPECT_EQ(allowed->verdict, CompareVerdict::kBelowThreshold);
  EXPECT_TRUE(allowed->significant);
}

// A pair is made however short the time is; no other is begun that would end after it.
TEST(CompareInTurns, EndsWithTheBudget) {
  CompareRequest request = of(work(100'000), work(100'000));
  request.budget_s = 1e-3;
  const auto unclear = compare_in_turns(request);
  ASSERT_TRUE(unclear) << to_text(unclear.error());
  EXPECT_EQ(unclear->verdict, CompareVerdict::kUnclear);
  EXPECT_EQ(unclear->pairs, 1);
  EXPECT_FALSE(std::isfinite(unclear->upper));
  EXPECT_THAT(unclear->notes, Contains(HasSubstr("needs at least 6 pairs; with --time-limit")));

  CompareRequest slow = of({PERFCAST_GUINEA, "sleep", "300"}, {PERFCAST_GUINEA, "sleep", "300"});
  slow.budget_s = 2;
  slow.error_ratio = 1e-6;  // 21 pairs
  const auto kept = compare_in_turns(slow);
  ASSERT_TRUE(kept) << to_text(kept.error());
  EXPECT_LE(kept->spent_s, 2.3);
  EXPECT_GE(kept->pairs, 1);
  EXPECT_LE(kept->pairs, 2);

  slow.commands[0][2] = "9000";
  const auto none = compare_in_turns(slow);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "limit-reached");
  EXPECT_THAT(none.error().message, HasSubstr("still running when the time limit of 2 s ended"));
}

TEST(CompareInTurns, ErrorsNameTheCommand) {
  const auto failed = compare_in_turns(of(work(1), {PERFCAST_GUINEA, "exit", "3"}));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, "program-failed");
  EXPECT_THAT(failed.error().message, HasSubstr("exited with status 3"));
  EXPECT_THAT(failed.error().message, testing::StartsWith("B, "));
  CompareRequest accepted = of(work(1), {PERFCAST_GUINEA, "exit", "3"});
  accepted.accept_failure = true;
  accepted.budget_s = 0.1;
  EXPECT_TRUE(compare_in_turns(accepted));
  EXPECT_EQ(compare_in_turns(of(work(1), {"no-such-program-here"})).error().code, "program-not-found");
  CompareRequest limited = of({PERFCAST_GUINEA, "sleep", "5000"}, work(1));
  limited.limit_s = 0.2;
  EXPECT_EQ(compare_in_turns(limited).error().code, "limit-reached");
  CompareRequest full = of(work(1), work(1));
  full.record = [](const ComparedRun&) { return Status(Error{"cannot-write", "full", "log", ""}); };
  EXPECT_EQ(compare_in_turns(full).error().code, "cannot-write");
}

TEST(CompareInTurns, CountsStandBesideTimes) {
  if (!QemuCollector().available()) GTEST_SKIP() << "no QEMU with plugins here";
  CompareRequest request = of(work(300'000), work(600'000));
  request.counted_runs = 2;
  const auto both = compare_in_turns(request);
  ASSERT_TRUE(both) << to_text(both.error());
  ASSERT_FALSE(both->counts.empty());
  EXPECT_EQ(both->counts.front().metric, "instructions_count");
  EXPECT_GT(both->counts.front().ratio, 1.5);
  EXPECT_TRUE(both->counts_differ);
  ASSERT_GT(both->counts.size(), 2u);  // branches and arithmetic differ, too
}

TEST(CompareInTurns, TheSameWorkEndsEarlyAndWhatDoesMoreIsFoundByCounts) {
  if (!QemuCollector().available()) GTEST_SKIP() << "no QEMU with plugins here";
  CompareRequest request = of(work(300'000), work(300'000));
  request.counted_runs = 2;
  request.threshold_ratio = 0.01;
  request.time = ComparedTime::kCpu;  // neighbours hardly matter
  request.budget_s = 30;
  const auto same = compare_in_turns(request);
  ASSERT_TRUE(same) << to_text(same.error());
  EXPECT_EQ(same->verdict, CompareVerdict::kNoDifference);
  EXPECT_TRUE(same->counts_repeat);
  EXPECT_FALSE(same->counts_differ);
  EXPECT_LT(same->spent_s, 31);

  request.commands[1] = work(309'000);
  request.budget_s = 3;
  const auto more = compare_in_turns(request);
  ASSERT_TRUE(more) << to_text(more.error());
  EXPECT_EQ(more->verdict, CompareVerdict::kSlower);
  EXPECT_LT(more->spent_s, 4);
}

}  // namespace
}  // namespace perfcast::measure
