#include "fleet/report/schedule_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/json.h"
#include "fleet/testing/small_report.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

TEST(ScheduleJson, HasItsFieldsAndLeavesOutWhatIsNotKnown) {
  const Json json = to_json(small_report());
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_EQ(json["schema"], "perfcast.schedule/1");
  EXPECT_EQ(json["seeds"], Json::array({1}));
  const Json& policy = json["policies"][1];
  EXPECT_EQ(policy["policy"], "fcfs");
  EXPECT_DOUBLE_EQ(policy["makespan_s"].get<double>(), 150);
  EXPECT_DOUBLE_EQ(policy["mean_wait_s"].get<double>(), 10.0 / 3);
  EXPECT_DOUBLE_EQ(policy["utilisation"].get<double>(), 2080.0 / 3520);
  EXPECT_DOUBLE_EQ(policy["energy_joules"].get<double>(), 83000);
  EXPECT_DOUBLE_EQ(policy["cost"].get<double>(), 0.88);
  EXPECT_FALSE(policy.contains("p99_wait_s"));
  EXPECT_FALSE(policy.contains("gpu_utilisation"));
  EXPECT_FALSE(policy.contains("lowest"));
  EXPECT_EQ(policy["killed"], 1);
  EXPECT_EQ(policy["platforms"][1]["platform"], "fast");
  EXPECT_EQ(json["notes"], Json::array({"a note"}));
  EXPECT_THAT(perfcast::to_text(json), Not(HasSubstr("null")));
}

TEST(ScheduleText, GivesMediansAndSpreadOverSeeds) {
  ScheduleReport report = small_report();
  report.runs.push_back(small_run("fcfs", 2, 100, 1));
  report.runs.push_back(small_run("fcfs", 3, 900, 1));
  const Json json = to_json(report);
  EXPECT_DOUBLE_EQ(json["policies"][1]["highest"]["makespan_s"].get<double>(), 900);
  EXPECT_THAT(to_text(report), HasSubstr("medians over 3 seeds"));
  EXPECT_THAT(to_text(report), HasSubstr("1.67 min .. 15.00 min"));
}

TEST(ScheduleText, SaysWhatBecameOfTheJobs) {
  const std::string text = to_text(small_report());
  EXPECT_THAT(text, HasSubstr("5 jobs of by hand, 3 nodes with 16 cores\n"));
  EXPECT_THAT(text, HasSubstr("cost, EUR"));
  EXPECT_THAT(text, HasSubstr("note: fcfs: 1 killed at their limit, 1 gave up before they started\n"));
  EXPECT_THAT(text, HasSubstr("50.0%"));
  EXPECT_THAT(text, HasSubstr("note: a note\n"));
  EXPECT_THAT(to_text(ScheduleReport{}), HasSubstr("0 jobs"));
}

TEST(ScheduleText, HasPlatformsAsRowsAndResourcesApart) {
  ScheduleReport report = small_report();
  report.cluster.note = "prices of May";
  report.cluster.groups[1].cores_per_node = 0;
  report.cluster.groups[1].gpus_per_node = 4;
  for (PolicyRun& item : report.runs) {
    item.summary.groups[1].core_utilisation = kUnknown;
    item.summary.groups[1].gpu_utilisation = 0.09;
  }
  const std::vector<PolicyRow> rows = policy_rows(report);
  const ReportTable table = report_tables(report, rows)[3];
  EXPECT_THAT(rows_text(table), StartsWith("platform    random   fcfs  oracle\nslow         "));
  EXPECT_THAT(rows_text(table), HasSubstr("\nfast, GPUs    9.0%   9.0%    9.0%\n"));
  EXPECT_THAT(report_notes(report, rows), testing::Contains("cluster: prices of May"));
  EXPECT_EQ(to_json(report)["notes"][0], "cluster: prices of May");

  report.cluster.groups[1].cores_per_node = 8;
  EXPECT_THAT(cells_for_people(report_tables(report, rows)[3].columns[0]),
              ElementsAre("slow", "fast, cores", "fast, GPUs"));
}

TEST(ScheduleText, PutsManyPoliciesIntoSeveralTables) {
  ScheduleReport report = small_report();
  report.runs.clear();
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}) {
    report.runs.push_back(small_run(name, 1, 100, 100));
  }
  const std::vector<PolicyRow> rows = policy_rows(report);
  const auto tables = report_tables(report, rows);
  ASSERT_THAT(tables, SizeIs(5));
  EXPECT_THAT(tables[3].columns, SizeIs(10));
  ASSERT_THAT(tables[4].columns, SizeIs(2));
  EXPECT_EQ(tables[4].columns[1].title, "j");
}

TEST(ScheduleCsv, HasALineForEachJobAndPolicy) {
  std::string csv;
  write_jobs_csv(small_report(), [&](std::string_view piece) { csv += piece; });
  const auto table = CsvTable::parse(csv, "jobs.csv");
  ASSERT_TRUE(table) << to_text(table.error());
  ASSERT_EQ(table->rows(), 15u);
  const auto cell = [&](size_t row, const char* name) { return table->cell(row, *table->find_column(name)); };
  EXPECT_EQ(cell(6, "policy"), "fcfs");
  EXPECT_EQ(cell(6, "job"), "12");
  EXPECT_EQ(cell(6, "state"), "killed");
  EXPECT_EQ(cell(6, "platform"), "slow");
  EXPECT_EQ(cell(6, "wait_s"), "10");
  EXPECT_EQ(cell(6, "bounded_slowdown"), "1.25");
  EXPECT_EQ(cell(6, "energy_joules"), "4000");
  EXPECT_EQ(cell(7, "program"), "<fft>");
  EXPECT_EQ(cell(8, "state"), "cancelled");
  for (const char* name : {"platform", "start_s", "end_s", "wait_s", "run_s", "forecast_s", "energy_joules"}) {
    EXPECT_EQ(cell(8, name), "") << name;
  }
}

TEST(ScheduleCsv, HasALineForEachPartOfASegment) {
  ScheduleReport report = small_report();
  report.runs.resize(1);
  report.runs[0].outcome.segments[0].parts = 0;  // names no node
  std::string csv;
  write_segments_csv(report, [&](std::string_view piece) { csv += piece; });
  EXPECT_EQ(csv,
            "policy,job,platform,node,cores,gpus,start_s,end_s\nrandom,11,slow,,4,0,0,100\nrandom,12,slow,1,2,0,20,60\n"
            "random,13,fast,0,8,0,20,220\n");
}

TEST(DurationText, ChoosesAUnit) {
  EXPECT_EQ(duration_text(45.23), "45.2 s");
  EXPECT_EQ(duration_text(750), "12.5 min");
  EXPECT_EQ(duration_text(3.42 * 3600), "3.42 h");
  EXPECT_EQ(duration_text(6.1 * 86400), "6.10 d");
  EXPECT_EQ(duration_text(kUnknown), "-");
}

}  // namespace
}  // namespace perfcast::fleet
