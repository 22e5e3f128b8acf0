#include "ai/train_time/metric_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::optional<double> read(const char* line, const char* metric = "accuracy", const char* pattern = "") {
  return MetricReader::create(metric, pattern)->read(line);
}

TEST(MetricLines, AreReadInTheKnownForms) {
  EXPECT_EQ(read(R"({"epoch": 3, "accuracy": 0.91})"), 0.91);
  EXPECT_EQ(read(R"(INFO {"epoch": 3, "metrics": {"accuracy": 0.92}})"), 0.92);
  EXPECT_EQ(read(R"(:::MLLOG {"key": "accuracy", "value": 0.75, "time_ms": 5})"), 0.75);
  EXPECT_EQ(read("epoch=3 accuracy=0.93 loss=1"), 0.93);
  EXPECT_EQ(read("epoch 3, accuracy: 94.5%"), 94.5);
  EXPECT_EQ(read("accuracy = 1e-2."), 0.01);
  EXPECT_EQ(read("accuracy: 0.1 ... accuracy: 0.2"), 0.2);
  EXPECT_TRUE(std::isnan(*read("accuracy: nan")));
  EXPECT_EQ(read(R"({"accuracy": "inf"})"), INFINITY);
}

TEST(MetricLines, TakeTheNameAsAWord) {
  EXPECT_EQ(read("val_accuracy=0.9"), std::nullopt);
  EXPECT_EQ(read("top-accuracy: 0.9"), std::nullopt);
  EXPECT_EQ(read("accuracy_top5: 0.9"), std::nullopt);
  EXPECT_EQ(read("the accuracy is good"), std::nullopt);
  EXPECT_EQ(read("accuracy: good"), std::nullopt);
  EXPECT_EQ(read("val/accuracy=0.9", "val/accuracy"), 0.9);
  EXPECT_EQ(read(R"({"key": "loss", "value": 3})"), std::nullopt);
}

TEST(MetricLines, SayWhatTheyHaveValuesOf) {
  EXPECT_THAT(metric_names_in(R"({"epoch": 3, "accuracy": 0.91, "note": "good"})"),
              testing::UnorderedElementsAre("epoch", "accuracy"));
  EXPECT_THAT(metric_names_in(R"(step 5 {"eval": {"acc": "nan"}})"), ElementsAre("acc"));
  EXPECT_THAT(metric_names_in(R"(:::MLLOG {"key": "eval_accuracy", "value": 0.9, "time_ms": 5})"),
              ElementsAre("eval_accuracy"));
  EXPECT_THAT(metric_names_in("12:30 epoch=3 val/loss: 0.5. state: good"), ElementsAre("epoch", "val/loss"));
  EXPECT_THAT(metric_names_in("nothing here"), ElementsAre());
}

TEST(MetricLines, TakeAPattern) {
  EXPECT_EQ(read("epoch 3 top1 76.5 top5 93.2", "top1", "top1 ([0-9.]+)"), 76.5);
  EXPECT_EQ(read("a 1 a 2", "a", "a ([0-9])"), 2);
  EXPECT_EQ(read("nothing", "a", "a ([0-9])"), std::nullopt);
  EXPECT_THAT(MetricReader::create("a", "a [0-9]").error().message, HasSubstr("no group"));
  EXPECT_THAT(MetricReader::create("a", "a ([0-9]").error().message, HasSubstr("no regular expression"));
  EXPECT_EQ(MetricReader::create("", "").error().code, "bad-usage");
}

TEST(MetricLines, StateTheirTime) {
  EXPECT_EQ(stated_time_s(R"({"time_s": 2.5, "accuracy": 1})"), 2.5);
  EXPECT_EQ(stated_time_s(R"(:::MLLOG {"time_ms": 1500, "key": "x"})"), 1.5);
  EXPECT_EQ(stated_time_s("accuracy=1"), std::nullopt);
}

TEST(MetricLines, AreCutAtEachEnd) {
  std::vector<std::string> lines;
  const auto take = [&lines](std::string_view line) { lines.emplace_back(line); };
  LineCutter cutter;
  cutter.add("a=1\nb=", take);
  cutter.add("2\r10%\r20%\n\nend", take);
  cutter.finish(take);
  EXPECT_THAT(lines, ElementsAre("a=1", "b=2", "10%", "20%", "end"));
  cutter.add(std::string(kLongestMetricLine + 10, 'x') + "\n", take);
  EXPECT_EQ(lines.back().size(), kLongestMetricLine);
}

}  // namespace
}  // namespace perfcast::ai
