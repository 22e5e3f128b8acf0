#include "ai/train_time/train_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;

TrainReport report_of(std::vector<TrainCurve> curves, double threshold) {
  TrainReport report;
  report.metric = "accuracy";
  TrainRequest request;
  request.threshold = threshold;
  report.comparison = *compare_trainings(curves, request);
  report.curves = std::move(curves);
  return report;
}

TEST(TrainReport, SaysWhichSeedsNeverGotThere) {
  TrainCurve good, bad;
  good.system = bad.system = "net";
  good.readings = {{10, 0.95}};
  bad.seed = 2;
  bad.readings = {{10, 0.5}, {20, 0.7}, {30, NAN}};
  bad.state = TrainRunState::kFailed;
  bad.why = "killed by signal 9 (Killed)";
  TrainReport report = report_of({good, bad}, 0.9);
  report.no_meter = {"rapl: no powercap"};
  const std::string text = train_report_text(report);
  EXPECT_THAT(text, HasSubstr("time to accuracy >= 0.9; rule raw: the first evaluation at the threshold or above"));
  EXPECT_THAT(text, HasSubstr("net, seed 2: never reached 0.9; at best 0.7 in 3 evaluations"));
  EXPECT_THAT(text, HasSubstr("failed, killed by signal 9"));
  EXPECT_THAT(text, HasSubstr("no number: 1 evaluation"));
  EXPECT_THAT(text, HasSubstr("no meter:\n  rapl: no powercap"));
  const Json json = train_report_json(report);
  EXPECT_EQ(json["schema"], "perfcast.bench.train/1");
  EXPECT_FALSE(json["systems"][0].contains("score_s"));  // of two seeds none can be dropped
  EXPECT_EQ(json["systems"][0]["never_reached"], 1);
  EXPECT_EQ(json["systems"][0]["seeds"][0]["time_s"], 10);
  EXPECT_FALSE(json["systems"][0]["seeds"][1].contains("time_s"));
}

TEST(TrainReport, SaysWhichBenchmarkItIsOf) {
  TrainCurve curve;
  curve.system = "net";
  curve.readings = {{10, 0.95}};
  TrainReport report = report_of({curve}, 0.9);
  EXPECT_FALSE(train_report_json(report).contains("benchmark"));
  report.benchmark = "retinanet";
  report.quality = "34.0% mAP";
  EXPECT_THAT(train_report_text(report), HasSubstr("threshold or above\nbenchmark: retinanet, 34.0% mAP\n\nsystem"));
  EXPECT_EQ(train_report_json(report)["benchmark"], "retinanet");
  EXPECT_EQ(train_report_json(report)["quality"], "34.0% mAP");
}

TEST(TrainReport, DrawsACurveForEachSeed) {
  TrainCurve a, b;
  a.system = "a";
  b.system = "b <script>";
  a.readings = {{10, 0.5}, {20, 0.95}};
  b.readings = {{15, 0.6}, {30, 0.91}};
  const std::string page = train_report_page(report_of({a, b}, 0.9));
  EXPECT_THAT(page, HasSubstr("<polyline"));
  EXPECT_THAT(page, HasSubstr("b &lt;script&gt;"));
  const size_t table = page.find("<pre>");
  ASSERT_NE(table, std::string::npos);
  const std::string lines = page.substr(table, page.find("</pre>") - table);
  EXPECT_GT(std::count(lines.begin(), lines.end(), '\n'), 5);
  EXPECT_THAT(lines, HasSubstr("\na "));
  EXPECT_THAT(page, testing::Not(HasSubstr("<script>")));
}

TEST(TrainReport, WritesTimesAsPeopleDo) {
  EXPECT_EQ(training_time_text(0.35), "350 ms");
  EXPECT_EQ(training_time_text(750), "12.5 min");
  EXPECT_EQ(training_time_text(16920), "4 h 42 min");
  EXPECT_EQ(training_time_text(3599.9), "60.0 min");
  EXPECT_EQ(training_time_text(7199), "2 h 0 min");
  EXPECT_EQ(training_time_text(277200), "3 d 5 h");
}

TEST(TrainReport, TellsJoulesOfWholeRuns) {
  TrainCurve a, b;
  a.system = b.system = "a";
  b.seed = 2;
  a.readings = b.readings = {{10, 0.95}};
  a.meters = {{"rapl:package-0", "CPU package 0", 100.0, 1.0, ""}};
  b.meters = {{"rapl:package-0", "CPU package 0", 300.0, 1.0, ""}};
  const TrainReport report = report_of({a, b}, 0.9);
  EXPECT_THAT(train_report_text(report), HasSubstr("200J per training, idle power included, mean of 2 whole runs"));
  EXPECT_EQ(train_report_json(report)["systems"][0]["meters"][0]["energy_joules"], 200);
}

}  // namespace
}  // namespace perfcast::ai
