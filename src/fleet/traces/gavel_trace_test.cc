#include "fleet/traces/gavel_trace.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "base/file.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTable =
    "job_type,scale_factor,slow,fast,fast_unconsolidated\n"
    "A,1,2,8,8\n"
    "B (batch size 4),1,1.5,,\n"
    "A,2,0,15,7\n";
constexpr const char* kTraces =
    "trace,job_type,scale_factor,total_steps,arrival_s,priority_weight,slo\n"
    "t/1,A,1,100,5.5,1,\n"
    "t/1,A,2,30,0,2,-1\n"
    "t/2,C,8,7,1,,\n";

std::string code_of_table(const char* csv) {
  const auto table = parse_gavel_throughputs(csv, "t.csv");
  return table ? "none" : table.error().code;
}

TEST(GavelThroughputs, Read) {
  const auto table = parse_gavel_throughputs(kTable, "t.csv");
  ASSERT_TRUE(table) << to_text(table.error());
  EXPECT_THAT(table->platforms, ElementsAre("slow", "fast"));
  ASSERT_EQ(table->types.size(), 3u);
  EXPECT_THAT(table->steps_per_s, ElementsAre(2, 8, 1.5, testing::IsNan(), testing::IsNan(), 15));
  EXPECT_EQ(table->find("A", 2), 2);
  EXPECT_EQ(table->find("A", 4), -1);
}

TEST(GavelThroughputs, Errors) {
  EXPECT_EQ(code_of_table("job_type,scale_factor\nA,1\n"), "bad-gavel-table");
  EXPECT_EQ(code_of_table("job_type,scale_factor,x\n"), "bad-gavel-table");
  EXPECT_EQ(code_of_table("job_type,x\nA,1\n"), "missing-column");
  EXPECT_EQ(code_of_table("job_type,scale_factor,x\nA,1,-1\n"), "bad-gavel-table");
  EXPECT_EQ(code_of_table("job_type,scale_factor,x\nA,1.5,1\n"), "bad-gavel-table");
  EXPECT_EQ(code_of_table("job_type,scale_factor,x\nA,,1\n"), "bad-gavel-table");
  EXPECT_EQ(code_of_table("job_type,scale_factor,x\nA,1,1\nA,1,2\n"), "bad-gavel-table");
  EXPECT_EQ(code_of_table("job_type,scale_factor,x\nA,1,fast\n"), "bad-number");
  EXPECT_EQ(code_of_table("job_type,scale_factor,x\nA,1,1e-300\n"), "bad-gavel-table");
}

TEST(GavelTraces, BecomeAWorkload) {
  const auto table = parse_gavel_throughputs(kTable, "t.csv");
  const auto jobs = parse_gavel_traces(kTraces, "traces.csv");
  ASSERT_TRUE(jobs) << to_text(jobs.error());
  const auto workload = gavel_workload(*table, *jobs, "t/1");
  ASSERT_TRUE(workload) << to_text(workload.error());
  ASSERT_EQ(workload->size(), 2u);
  EXPECT_EQ(workload->jobs[0].arrival_s, 0) << "in order of arrival";
  EXPECT_EQ(workload->jobs[0].gpus, 2);
  EXPECT_EQ(workload->jobs[0].cores, 0);
  EXPECT_EQ(workload->jobs[0].priority, 2);
  EXPECT_TRUE(workload->jobs[0].spread);
  EXPECT_THAT(workload->time_s, ElementsAre(testing::IsNan(), 2, 50, 12.5));
  EXPECT_TRUE(check_workload(*workload));

  const auto all = gavel_workload(*table, *jobs, "");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 3u) << "no job is lost";
  EXPECT_THAT(all->notes, testing::Contains(HasSubstr("1 jobs are of a type")));
  const auto missing = gavel_workload(*table, *jobs, "t/9");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "unknown-trace");
  EXPECT_THAT(missing.error().expected, HasSubstr("t/1"));
}

TEST(GavelTraces, Errors) {
  const auto code = [](const std::string& row) {
    const auto jobs =
        parse_gavel_traces("trace,job_type,scale_factor,total_steps,arrival_s,priority_weight\n" + row + "\n", "x.csv");
    return jobs ? std::string("none") : jobs.error().code;
  };
  EXPECT_EQ(code("t,A,1,5,0,1"), "none");
  EXPECT_EQ(code("t,A,0,5,0,1"), "bad-gavel-trace");
  EXPECT_EQ(code("t,A,1,-5,0,1"), "bad-gavel-trace");
  EXPECT_EQ(code("t,A,1,5,-1,1"), "bad-gavel-trace");
  EXPECT_EQ(code("t,A,1,,0,1"), "bad-gavel-trace");
  EXPECT_EQ(code("t,A,1,5,0,0"), "bad-gavel-trace");
  EXPECT_EQ(code("t,A,1,x,0,1"), "bad-number");
  EXPECT_EQ(code("t,A,1,5,0"), "bad-csv");
}

TEST(GavelGenerator, FollowsTheRules) {
  const auto table = parse_gavel_throughputs(kTable, "t.csv");
  const auto trace = generate_gavel_trace(*table, {20000, 4, 7, "slow"});
  ASSERT_TRUE(trace) << to_text(trace.error());
  ASSERT_TRUE(check_workload(*trace));
  EXPECT_NEAR(trace->jobs.back().arrival_s / 19999, 900, 4 * 900 / std::sqrt(20000.0));
  int64_t is_long = 0, of_a = 0;
  double log_short = 0;
  for (size_t i = 0; i < trace->size(); ++i) {
    const double minutes = trace->times(i)[0] / 60;
    EXPECT_GE(minutes, std::pow(10, 1.5) * (1 - 1e-12));
    EXPECT_LE(minutes, 1e4 * (1 + 1e-12));
    is_long += minutes > 1000 ? 1 : 0;
    log_short += minutes > 1000 ? 0 : std::log10(minutes);
    if (trace->jobs[i].program == 0) {
      ++of_a;
      EXPECT_NEAR(trace->times(i)[1], trace->times(i)[0] / 4, 1e-9 * trace->times(i)[0]);
    } else {
      EXPECT_TRUE(std::isnan(trace->times(i)[1]));
    }
  }
  EXPECT_NEAR(static_cast<double>(is_long), 4000, 4 * std::sqrt(20000 * 0.16));
  EXPECT_NEAR(static_cast<double>(of_a), 10000, 4 * std::sqrt(5000.0));
  EXPECT_NEAR(log_short / static_cast<double>(20000 - is_long), 2.25, 4 * 0.433 / std::sqrt(16000.0));
}

TEST(GavelGenerator, SameSeedSameTrace) {
  const auto table = parse_gavel_throughputs(kTable, "t.csv");
  const auto a = generate_gavel_trace(*table, {50, 4, 1, "slow"}), b = generate_gavel_trace(*table, {50, 4, 1, "slow"});
  const auto c = generate_gavel_trace(*table, {50, 4, 2, "slow"});
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(a->jobs[49].arrival_s, b->jobs[49].arrival_s);
  EXPECT_EQ(a->times(49)[0], b->times(49)[0]);
  EXPECT_NE(a->jobs[49].arrival_s, c->jobs[49].arrival_s);
}

TEST(GavelGenerator, Errors) {
  const auto table = parse_gavel_throughputs(kTable, "t.csv");
  EXPECT_EQ(generate_gavel_trace(*table, {0, 4, 1, "slow"}).error().code, "bad-usage");
  EXPECT_EQ(generate_gavel_trace(*table, {5, 0, 1, "slow"}).error().code, "bad-usage");
  EXPECT_EQ(generate_gavel_trace(*table, {5, 4, 1, "tpu"}).error().code, "missing-platform");
  const auto none = parse_gavel_throughputs("job_type,scale_factor,x\nA,2,1\n", "t.csv");
  EXPECT_EQ(generate_gavel_trace(*none, {5, 4, 1, "x"}).error().code, "bad-gavel-table");
}

TEST(GavelData, Published) {
  const std::filesystem::path folder = std::filesystem::path(PERFCAST_SHARED_DATA) / "gavel";
  const auto csv = read_file((folder / "simulation_throughputs_isolated.csv").string());
  const auto traces = read_file((folder / "traces.csv.gz").string());
  if (!csv || !traces) GTEST_SKIP() << "no folder gavel in " << PERFCAST_SHARED_DATA;
  const auto table = parse_gavel_throughputs(*csv, "isolated");
  ASSERT_TRUE(table) << to_text(table.error());
  EXPECT_THAT(table->platforms, ElementsAre("k80", "p100", "v100"));
  EXPECT_EQ(table->types.size(), 83u);
  const auto jobs = parse_gavel_traces(*traces, "traces");
  ASSERT_TRUE(jobs) << to_text(jobs.error());
  EXPECT_EQ(jobs->size(), 15551u);
  const auto workload = gavel_workload(*table, *jobs, "physical_cluster/minimize_makespan");
  ASSERT_TRUE(workload) << to_text(workload.error());
  EXPECT_EQ(workload->size(), 100u);
  EXPECT_TRUE(check_workload(*workload));
}

}  // namespace
}  // namespace perfcast::fleet
