#include "fleet/compare/policy_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "fleet/testing/small_report.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::IsNan;
using testing::SizeIs;

TEST(PolicyRows, StandBesideRandomAndOracle) {
  const ScheduleReport report = small_report();
  const std::vector<PolicyRow> rows = policy_rows(report);
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_DOUBLE_EQ(rows[1].makespan_to_oracle, 1.5);
  EXPECT_DOUBLE_EQ(rows[1].makespan_gap_closed, 0.5);
  EXPECT_DOUBLE_EQ(rows[0].makespan_gap_closed, 0);
  EXPECT_DOUBLE_EQ(rows[2].makespan_gap_closed, 1);
  EXPECT_DOUBLE_EQ(rows[1].completion_to_oracle, 10.0 / 9);
  EXPECT_THAT(rows[1].completion_gap_closed, IsNan());  // the oracle gains nothing over random
}

TEST(PolicyRows, AreMediansOverSeedsComparedSeedBySeed) {
  ScheduleReport report = small_report();
  for (const auto& [seed, random, fcfs, oracle] :
       {std::tuple{2u, 300.0, 100.0, 100.0}, std::tuple{3u, 1000.0, 900.0, 500.0}}) {
    report.runs.push_back(small_run("random", seed, random, 1));
    report.runs.push_back(small_run("fcfs", seed, fcfs, 1));
    report.runs.push_back(small_run("oracle", seed, oracle, 1));
  }
  const std::vector<PolicyRow> rows = policy_rows(report);
  EXPECT_THAT(seeds_of(report), ElementsAre(1, 2, 3));
  EXPECT_DOUBLE_EQ(rows[1].middle.makespan_s, 150);
  EXPECT_DOUBLE_EQ(rows[1].lowest.makespan_s, 100);
  EXPECT_DOUBLE_EQ(rows[1].highest.makespan_s, 900);
  EXPECT_DOUBLE_EQ(rows[1].makespan_to_oracle, 1.5);   // of 1.5, 1, 1.8
  EXPECT_DOUBLE_EQ(rows[1].makespan_gap_closed, 0.5);  // of 0.5, 1, 0.2
}

}  // namespace
}  // namespace perfcast::fleet
