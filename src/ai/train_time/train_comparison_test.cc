#include "ai/train_time/train_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ai/train_time/train_log.h"
#include "base/file.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;

TrainCurve curve(const std::string& system, int64_t seed, std::vector<MetricReading> readings,
                 TrainRunState state = TrainRunState::kDone) {
  TrainCurve result;
  result.system = system;
  result.seed = seed;
  result.readings = std::move(readings);
  result.state = state;
  return result;
}

TEST(TrainComparison, ScoresEachSystem) {
  TrainRequest request;
  request.threshold = 0.9;
  const auto comparison = compare_trainings({curve("a", 2, {{10, 0.8}, {20, 0.9}}), curve("a", 1, {{10, 0.91}}),
                                             curve("a", 3, {{40, 0.95}}), curve("a", 4, {{50, 0.5}})},
                                            request);
  ASSERT_TRUE(comparison);
  const SystemTime& a = comparison->systems.front();
  EXPECT_EQ(a.score.mean_s, 30);  // of 20 and 40: without 10 and the one that never got there
  ASSERT_EQ(a.seeds.size(), 4u);
  EXPECT_EQ(a.seeds[0].seed, 1);
  EXPECT_EQ(a.seeds[1].time_s, 20);
  EXPECT_FALSE(a.seeds[3].time_s);
  EXPECT_EQ(a.seeds[3].best, 0.5);
  EXPECT_TRUE(comparison->orders.empty());  // of one system there is none
}

TEST(TrainComparison, KnowsNothingOfWhatWasCutOff) {
  TrainRequest request;
  request.threshold = 0.9;
  const auto comparison = compare_trainings(
      {curve("a", 1, {{10, 0.9}}), curve("a", 2, {{12, 0.95}}, TrainRunState::kCutOff),
       curve("a", 3, {{5, 0.5}}, TrainRunState::kInterrupted), curve("a", 4, {{5, 0.5}}, TrainRunState::kLimit)},
      request);
  ASSERT_TRUE(comparison);
  const SystemTime& a = comparison->systems.front();
  EXPECT_EQ(a.score.runs, 3);  // what was cut off had reached it before; the limit is a "never"
  EXPECT_EQ(a.score.unfinished, 1);
  EXPECT_EQ(a.interrupted, 1u);
  EXPECT_FALSE(a.seeds[2].counts);
}

TEST(TrainComparison, ShowsWhatHangsOnTheThreshold) {
  std::vector<TrainCurve> curves;
  for (int64_t seed = 1; seed <= 4; ++seed) {
    const double late = 0.1 * static_cast<double>(seed);
    curves.push_back(curve("small", seed, {{1 + late, 0.8}, {2 + late, 0.9}, {3 + late, 0.91}}));
    curves.push_back(curve("large", seed, {{4 + late, 0.8}, {8 + late, 0.9}, {12 + late, 0.95}}));
  }
  TrainRequest request;
  request.threshold = 0.9;
  const auto comparison = compare_trainings(curves, request);
  ASSERT_TRUE(comparison);
  ASSERT_TRUE(comparison->at_threshold);
  const ThresholdOrder& asked = comparison->orders[*comparison->at_threshold];
  EXPECT_EQ(asked.fastest, 0u);
  EXPECT_NEAR(*asked.lead_ratio, 8.25 / 2.25, 1e-9);
  EXPECT_EQ(asked.share, 1.0);
  const ThresholdOrder& hardest = comparison->orders.back();
  EXPECT_EQ(hardest.threshold, 0.95);
  EXPECT_EQ(hardest.fastest, 1u);
  EXPECT_FALSE(hardest.score_s[0]);
  EXPECT_FALSE(hardest.lead_ratio);
  ASSERT_EQ(comparison->changes.size(), 1u);
  EXPECT_EQ(comparison->changes[0].from, 0.91);
  EXPECT_EQ(comparison->changes[0].to, 0.95);
}

// The table of the slides: at each threshold another network is the fastest. Its four points are the slides', the other
// points of the curves are made up around them.
TEST(TrainComparison, ShowsTheSlidesResNetTable) {
  const auto text = read_file(PERFCAST_SOURCE_DIR "/src/ai/train_time/testdata/resnet-cifar10.csv");
  ASSERT_TRUE(text) << to_text(text.error());
  const auto reader = MetricReader::create("accuracy", "");
  const auto log = parse_train_log(*text, "resnet", *reader, "");
  ASSERT_TRUE(log) << to_text(log.error());
  TrainRequest request;
  request.threshold = 93;
  request.thresholds = {91.8, 94, 94.4};
  const auto comparison = compare_trainings(log->curves, request);
  ASSERT_TRUE(comparison);
  std::vector<std::string> fastest;
  std::vector<double> minutes;
  for (const ThresholdOrder& order : comparison->orders) {
    fastest.push_back(comparison->systems[*order.fastest].name);
    minutes.push_back(*order.score_s[*order.fastest] / 60);
  }
  EXPECT_THAT(fastest, testing::ElementsAre("ResNet20", "ResNet56", "ResNet164 (simple)", "ResNet164 (bottleneck)"));
  EXPECT_THAT(minutes, testing::ElementsAre(103, 282, 606, 702));
  EXPECT_EQ(comparison->changes.size(), 3u);
}

TEST(TrainComparison, NeedsAReading) {
  TrainCurve failed = curve("a", 1, {}, TrainRunState::kFailed);
  failed.why = "status 127: no such program";
  const auto comparison = compare_trainings({failed}, {});
  EXPECT_EQ(comparison.error().code, "no-readings");
  EXPECT_THAT(comparison.error().message, HasSubstr("no such program"));
}

}  // namespace
}  // namespace perfcast::ai
