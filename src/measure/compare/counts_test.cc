#include "measure/compare/counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "profile/collect/qemu/qemu_collector.h"

namespace perfcast::measure {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::vector<std::string> counted_work(int rounds) { return {PERFCAST_GUINEA, "work", std::to_string(rounds)}; }

CompareRequest counted_commands(std::vector<std::string> a, std::vector<std::string> b) {
  CompareRequest request;
  request.commands = {std::move(a), std::move(b)};
  request.counted_runs = 2;
  return request;
}

Profile profile_of(double instructions, double loads, double threads) {
  Profile profile;
  profile.metrics = {{"instructions_count", instructions}, {"loads_count", loads}, {"threads_peak_count", threads}};
  return profile;
}

TEST(CompareCounts, FindsHalfAPerCentOfInstructions) {
  if (!QemuCollector().available()) GTEST_SKIP() << "no QEMU with plugins here";
  CompareRequest request = counted_commands(counted_work(2'000'000), counted_work(2'010'000));
  request.counted_runs = 2;
  const auto more = compare_counts(request);
  ASSERT_TRUE(more) << to_text(more.error());
  EXPECT_EQ(more->verdict, CompareVerdict::kSlower);
  EXPECT_NEAR(more->ratio, 1.005, 5e-4);
  EXPECT_LT(more->counts.front().repeats_within, 1e-4);
  EXPECT_TRUE(more->counts_differ);
  EXPECT_EQ(more->pairs, 0);
  request.threshold_ratio = 0.01;
  EXPECT_EQ(compare_counts(request)->verdict, CompareVerdict::kBelowThreshold);
  request.commands[1] = request.commands[0];
  const auto same = compare_counts(request);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->verdict, CompareVerdict::kNoDifference);
  EXPECT_FALSE(same->significant);
}

TEST(CompareCounts, OneRunOfEachTellsNothingSure) {
  if (!QemuCollector().available()) GTEST_SKIP() << "no QEMU with plugins here";
  CompareRequest request = counted_commands(counted_work(300'000), counted_work(600'000));
  request.counted_runs = 1;
  const auto unsure = compare_counts(request);
  ASSERT_TRUE(unsure) << to_text(unsure.error());
  EXPECT_EQ(unsure->verdict, CompareVerdict::kUnclear);
  EXPECT_FALSE(unsure->significant);
  EXPECT_EQ(unsure->runs, 2);
  EXPECT_GT(unsure->ratio, 1.5);
}

TEST(CompareCounts, OfTwoProfilesWhatRunsDifferByIsAssumed) {
  CompareRequest request;
  const auto a = counts_of(profile_of(1e9, 3e8, 1), "a.json"), b = counts_of(profile_of(1.01e9, 3e8, 1), "b.json");
  ASSERT_TRUE(a && b);
  request.recorded = {*a, *b};
  const auto more = compare_counts(request);
  ASSERT_TRUE(more) << to_text(more.error());
  EXPECT_EQ(more->verdict, CompareVerdict::kSlower);
  EXPECT_DOUBLE_EQ(more->ratio, 1.01);
  EXPECT_NEAR(more->lower, 1.01 * std::exp(-0.003), 1e-12);  // three times 0.1%
  EXPECT_NEAR(more->upper, 1.01 * std::exp(0.003), 1e-12);
  EXPECT_EQ(more->runs, 2);
  ASSERT_EQ(more->counts.size(), 1u);  // the loads are the same
  EXPECT_THAT(more->notes, Contains(HasSubstr("repeat within 0.1% now is assumed")));

  // Counts of several threads repeat less well.
  request.recorded = {*counts_of(profile_of(1e9, 3e8, 4), "a.json"), *counts_of(profile_of(1.01e9, 4e8, 4), "b.json")};
  const auto threads = compare_counts(request);
  ASSERT_TRUE(threads);
  EXPECT_EQ(threads->verdict, CompareVerdict::kUnclear);
  ASSERT_EQ(threads->counts.size(), 2u);
  EXPECT_EQ(threads->counts[1].metric, "loads_count");
}

TEST(CompareCounts, OfAPartOfTheWorkAreNone) {
  Profile partly = profile_of(1e9, 3e8, 1);
  partly.warnings.push_back({"exec-not-followed", "it started others", ""});
  CompareRequest request;
  request.recorded = {*counts_of(profile_of(1e9, 3e8, 1), "a.json"), *counts_of(partly, "b.json")};
  const auto none = compare_counts(request);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "partial-counts");
  EXPECT_THAT(none.error().message, HasSubstr("B: it started others"));

  Profile uncounted;
  uncounted.missing["instructions_count"] = "no QEMU";
  const auto missing = counts_of(uncounted, "c.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().where, "c.json");
  EXPECT_THAT(missing.error().message, HasSubstr("no QEMU"));
}

TEST(CompareCounts, AProfileStandsForItsCommand) {
  if (!QemuCollector().available()) GTEST_SKIP() << "no QEMU with plugins here";
  CompareRequest both = counted_commands(counted_work(500'000), counted_work(500'000));
  const auto counted = compare_counts(both);
  ASSERT_TRUE(counted) << to_text(counted.error());
  CompareRequest request = counted_commands({}, counted_work(500'000));
  request.recorded[0] = *counts_of(profile_of(counted->counts.front().a * 0.9, 1, 1), "a.json");
  const auto more = compare_counts(request);
  ASSERT_TRUE(more) << to_text(more.error());
  EXPECT_EQ(more->verdict, CompareVerdict::kSlower);
  EXPECT_NEAR(more->ratio, 1 / 0.9, 1e-3);
  EXPECT_EQ(more->runs, 3);
}

}  // namespace
}  // namespace perfcast::measure
