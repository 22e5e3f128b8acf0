#include "fleet/report/schedule_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/figure/testing/markup.h"
#include "fleet/report/schedule_figure.h"
#include "fleet/testing/small_schedule.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

PolicyRun run(const Cluster& cluster, const Workload& workload, Outcome outcome, uint64_t seed = 1) {
  PolicyRun item;
  item.seed = seed;
  item.summary = summarise(cluster, workload, outcome);
  item.outcome = std::move(outcome);
  return item;
}

ScheduleReport drawn_report() {
  ScheduleReport report{small_cluster(), small_workload(), {}, {"a <note>"}};
  for (const char* policy : {"random", "fcfs", "oracle"}) {
    report.runs.push_back(run(report.cluster, report.workload, small_outcome(policy)));
  }
  return report;
}

ErrorSweep small_sweep() {
  return {{{0, "fcfs", 1, 10, 2},
           {1, "fcfs", 1, 10, 2},
           {0, "mct", 1, 5, 1},
           {1, "mct", 1, 15, 1.5},
           {0, "oracle", 1, 4, 1}},
          {"fcfs"}};
}

CsvTable parsed(const Figure& figure) {
  auto table = CsvTable::parse(figure.csv, figure.id + ".csv");
  if (!table) throw std::runtime_error(to_text(table.error()));
  return std::move(*table);
}

size_t count_of(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(ScheduleHtml, IsWellFormedSelfContainedAndTheSameEveryTime) {
  const std::string html = schedule_html(drawn_report(), small_sweep());
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_EQ(html, schedule_html(drawn_report(), small_sweep()));
  for (const char* outside : {"<script", "src=", "<link", "@import", "href=\"http"}) {
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  }
  for (const char* id : {"policies-bars", "error", "waits", "use", "gantt"}) {
    EXPECT_THAT(html, HasSubstr("download=\"perfcast-" + std::string(id) + ".csv\""));
  }
  EXPECT_THAT(html, HasSubstr("<section id=\"policies\">"));
  EXPECT_THAT(html, HasSubstr("a &lt;note&gt;"));
  EXPECT_THAT(html, HasSubstr("&lt;fft&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  // Every pattern that a style names is there.
  for (const int pattern : {1, 2, 3, 4, 5, 7}) {
    EXPECT_EQ(count_of(html, "id=\"pattern-" + std::to_string(pattern) + "\""), 1u);
    EXPECT_EQ(count_of(html, "url(#pattern-" + std::to_string(pattern) + ")"), 1u);
  }
  EXPECT_THAT(schedule_html(drawn_report()), Not(HasSubstr("perfcast-error.csv")));
}

TEST(ScheduleHtml, DoesNotReadWhatComesFromOutside) {
  const std::string evil = "<script>alert(\"1\")</script>&'";
  ScheduleReport report = drawn_report();
  report.workload.source = report.cluster.currency = evil;
  report.workload.programs[0] = report.workload.owners[0] = evil;
  report.cluster.groups[0].platform = report.workload.platforms[1] = evil;
  for (PolicyRun& item : report.runs) {
    item.summary.policy = item.outcome.policy = evil;
    item.outcome.notes = {evil};
  }
  const std::string html = schedule_html(report, {{{0, evil, 1, 1, 1}}, {}});
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("alert(\"1")));
}

TEST(ScheduleHtml, HoldsWhereNothingRan) {
  EXPECT_EQ(unbalanced(schedule_html({})), "");
  ScheduleReport report = drawn_report();
  for (PolicyRun& item : report.runs) {
    for (JobResult& job : item.outcome.jobs) job = {};
    item.outcome.segments.clear();
    item.summary = summarise(report.cluster, report.workload, item.outcome);
  }
  const std::string html = schedule_html(report);
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html, HasSubstr("No job ran."));
  EXPECT_THAT(html, HasSubstr("No job started."));
}

TEST(Gantt, DrawsABoxForEachPartOnItsNode) {
  ScheduleReport report = drawn_report();
  report.runs.resize(1);
  const Figure figure = gantt_figure(report);
  ASSERT_THAT(figure.images, SizeIs(2));  // legend and chart
  const std::string& chart = figure.images[1];
  EXPECT_EQ(unbalanced(chart), "");
  EXPECT_EQ(count_of(chart, "fill job"), 3u);
  EXPECT_EQ(count_of(chart, "job killed"), 1u);
  EXPECT_EQ(count_of(chart, "class=\"band\""), 3u);
  EXPECT_THAT(chart, HasSubstr("job 12, gzip, ada, 2 cores: 20.0 s to 60.0 s, waited 10.0 s, killed at its limit"));
  EXPECT_THAT(figure.images[0], HasSubstr("killed at its limit"));
  const CsvTable csv = parsed(figure);
  ASSERT_EQ(csv.rows(), 3u);
  EXPECT_EQ(csv.cell(1, *csv.find_column("node")), "1");
  EXPECT_EQ(csv.cell(1, *csv.find_column("held")), "2");
  EXPECT_EQ(csv.cell(2, *csv.find_column("program")), "<fft>");
}

TEST(Gantt, AggregatesWhatIsTooMuchAndSaysSo) {
  ScheduleReport report = drawn_report();
  report.runs.resize(1);
  report.cluster.groups[0].nodes = 1000;
  const Figure figure = gantt_figure(report);
  EXPECT_EQ(count_of(figure.images[1], "<rect"), 2u);  // a band for each platform
  EXPECT_THAT(figure.images[1], HasSubstr("fill area"));
  EXPECT_THAT(figure.caption, HasSubstr("Over 40 nodes or 5000 boxes"));
  // What was in use adds up to what the jobs held.
  const CsvTable csv = parsed(figure);
  double core_seconds = 0;
  for (size_t row = 0; row < csv.rows(); ++row) {
    const auto number = [&](const char* name) { return **csv.number(row, *csv.find_column(name)); };
    core_seconds += (number("end_s") - number("start_s")) * number("held");
  }
  EXPECT_NEAR(core_seconds, 480 + 1600, 1);
}

TEST(Gantt, ManyJobsStayInBounds) {
  ScheduleReport report{small_cluster(), small_workload(), {}, {}};
  Outcome outcome;
  outcome.policy = "fcfs";
  report.workload.jobs.clear();
  report.workload.time_s.assign(20000, 1);
  for (int i = 0; i < 10000; ++i) {
    report.workload.jobs.emplace_back();
    report.workload.jobs.back().arrival_s = i;
    outcome.jobs.push_back({i + 0.0, i + 1.0, i + 0.0, 1, 0, JobState::kDone});
    outcome.segments.push_back({i, 0, i + 0.0, i + 1.0, static_cast<uint32_t>(i), 1});
    outcome.parts.push_back({0, 1, 0});
  }
  report.runs = {run(report.cluster, report.workload, outcome)};
  const std::string html = schedule_html(report);
  EXPECT_LT(count_of(html, "<rect"), 200u);
  EXPECT_LT(html.size(), 1u << 20);
}

TEST(Gantt, SharesOfAGroupAreRowsOfTheirOwn) {
  ScheduleReport report = drawn_report();
  report.runs.resize(1);
  for (Segment& segment : report.runs[0].outcome.segments) segment.parts = 0;
  report.runs[0].outcome.parts.clear();
  const Figure figure = gantt_figure(report);
  EXPECT_EQ(count_of(figure.images[1], "class=\"band\""), 2u);
  EXPECT_EQ(count_of(figure.images[1], "fill job"), 3u);
}

TEST(UseOverTime, IsTheShareHeld) {
  const CsvTable csv = parsed(use_over_time_figure(drawn_report()));
  // fcfs on fast: nothing before 20 s, then all 8 cores until the end at 220 s.
  for (size_t row = 0; row < csv.rows(); ++row) {
    if (csv.cell(row, 0) != "fcfs" || csv.cell(row, 1) != "fast") continue;
    const double time = **csv.number(row, 2), used = **csv.number(row, 3);
    if (time > 18 && time < 22) continue;  // a stretch that both share
    EXPECT_NEAR(used, time < 20 ? 0 : 1, 1e-9) << time;
  }
}

TEST(Waits, AreADistribution) {
  const Figure figure = wait_figure(drawn_report());
  const CsvTable csv = parsed(figure);
  ASSERT_EQ(csv.rows(), 9u);
  EXPECT_EQ(csv.cell(5, 0), "fcfs");
  EXPECT_EQ(csv.cell(5, 1), "10");
  EXPECT_EQ(csv.cell(5, 2), "1");
  EXPECT_THAT(figure.images.front(), HasSubstr("fcfs: 67% at once"));
}

TEST(ErrorSweepFigure, MarksWhereAPolicyStopsToPay) {
  const Figure figure = error_sweep_figure(small_sweep());
  EXPECT_EQ(unbalanced(figure.images.front()), "");
  EXPECT_THAT(figure.images.front(), HasSubstr("mct is no better than fcfs from 50% error on"));
  EXPECT_THAT(figure.caption, HasSubstr("No longer better by makespan: mct from 50%."));
  EXPECT_EQ(parsed(figure).rows(), 5u);
  EXPECT_THAT(error_sweep_figure({}).images, IsEmpty());
}

TEST(JobKinds, AreTheLargestAndTheOthers) {
  Workload workload = small_workload();
  JobKinds kinds = kinds_of(workload);
  EXPECT_EQ(kinds.by, "program");
  EXPECT_THAT(kinds.names, ElementsAre("<fft>", "gzip"));  // 1640 core seconds against 920
  EXPECT_THAT(kinds.of_job, ElementsAre(1, 1, 0, 0, 1));
  workload.programs = {"one"};
  EXPECT_EQ(kinds_of(workload).by, "owner");
  workload.owners.clear();
  EXPECT_EQ(kinds_of(workload).names, std::vector<std::string>{"job"});
  workload.programs.clear();
  for (int i = 0; i < 12; ++i) workload.programs.push_back("p" + std::to_string(i));
  workload.jobs.resize(1);
  workload.jobs.resize(12, workload.jobs[0]);
  workload.time_s.assign(24, 1);
  for (int i = 0; i < 12; ++i) workload.jobs[static_cast<size_t>(i)].program = i == 11 ? kNoIndex : i;
  kinds = kinds_of(workload);
  ASSERT_THAT(kinds.names, SizeIs(8));
  EXPECT_EQ(kinds.names.back(), "5 others");
  EXPECT_EQ(kinds.of_job.back(), 7u);
}

}  // namespace
}  // namespace perfcast::fleet
