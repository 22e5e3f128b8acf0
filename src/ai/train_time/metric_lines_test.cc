#include "ai/train_time/metric_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>

#include "base/random.h"

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

TEST(MetricLines, AreReadAsPythonPrintsThem) {
  EXPECT_EQ(read("{'eval_loss': 0.33, 'eval_accuracy': 0.94, 'epoch': 4.0}", "eval_accuracy"), 0.94);
  EXPECT_TRUE(std::isnan(*read("{'loss': nan, 'accuracy': nan}")));
  EXPECT_EQ(read(R"({"accuracy": Infinity, "loss": NaN})"), INFINITY);
  EXPECT_EQ(read(R"({"accuracy": -Infinity})"), -INFINITY);
  EXPECT_EQ(read("step 3: {'eval': {'accuracy': np.float64(0.5)}}"), 0.5);
  EXPECT_EQ(read("{'accuracy': '0.9200'} {'lr': 1e-05}"), 0.92);
  EXPECT_EQ(read("{'lr': 1e-05} -> {'accuracy': 0.25}"), 0.25);
  EXPECT_EQ(read("accuracy = tensor(0.75, device='cuda:0')"), 0.75);
  EXPECT_TRUE(std::isnan(*read("accuracy=tensor(nan)")));
}

TEST(MetricLines, AreReadBehindTabsQuotesAndColours) {
  EXPECT_EQ(read("epoch\t3\taccuracy\t0.91\tloss\t0.2"), 0.91);
  EXPECT_EQ(read("'accuracy' : 0.91"), 0.91);
  const std::string coloured = "\x1b[31mstep: 10  \x1b[1;32mval_loss:  9.1000  \x1b[33mtps: 4,321\x1b[39m";
  const std::string plain = without_escapes(coloured);
  EXPECT_EQ(plain, "step: 10  val_loss:  9.1000  tps: 4,321");
  EXPECT_EQ(read(plain.c_str(), "val_loss"), 9.1);
  EXPECT_EQ(without_escapes("\x1b]8;;http://x\x1b\\a\x1b]0;t\ab\x1b(Bc\x1b"), "abc");
  EXPECT_EQ(read("tps: 4,321", "tps"), std::nullopt);  // 4321 or 4.321
  EXPECT_EQ(read("accuracy: 0,93"), std::nullopt);
  EXPECT_EQ(read("accuracy: 1.234,5"), std::nullopt);
  EXPECT_EQ(read("accuracy: 76.5,93.2"), 76.5);
  EXPECT_EQ(read("accuracy: 0.5, loss: 1"), 0.5);
}

// A value in every form of line that is known.
TEST(MetricLines, HaveOneValueInEveryForm) {
  Random random(5);
  for (int round = 0; round < 3000; ++round) {
    const double value = static_cast<double>(random.below(100000)) / 1000;
    const bool nan = random.below(10) == 0;
    const std::string number = nan ? (random.below(2) == 0 ? "nan" : "NaN") : std::to_string(value);
    const char* const kNames[] = {"accuracy", "val/acc", "eval_accuracy", "top-1@5"};
    const std::string name = kNames[random.below(4)];
    const std::string kForms[] = {name + "=" + number,
                                  name + ": " + number + ".",
                                  name + " =\t" + number + ", x",
                                  "x\t" + name + "\t" + number + "\ty",
                                  "{'epoch': 1, '" + name + "': " + number + "}",
                                  "INFO {'m': {'" + name + "': np.float64(" + number + ")}, 'ok': True} done",
                                  "{\"epoch\": 1, \"" + name + "\": " + number + "}",
                                  "{\"epoch\": 1, \"m\": {\"" + name + "\": \"" + number + "\"}}",
                                  "0: :::MLLOG {\"time_ms\": 5, \"key\": \"" + name + "\", \"value\": " + number +
                                      ", \"metadata\": {\"lineno\": 1}}",
                                  "{'" + name + "': tensor(" + number + ", device='cuda:0'), 'lr': 1e-05}"};
    std::string line = kForms[random.below(std::size(kForms))];
    // Colours stand between words.
    for (const char* const colour : {"\x1b[32m", "\x1b[0m", "\x1b[1;38;5;12m"}) {
      if (random.below(2) == 0) line.insert(random.below(2) == 0 ? 0 : line.size(), colour);
    }
    const auto read = MetricReader::create(name, "")->read(without_escapes(line));
    ASSERT_TRUE(read) << line;
    if (nan) {
      ASSERT_TRUE(std::isnan(*read)) << line;
    } else {
      ASSERT_DOUBLE_EQ(*read, value) << line;
    }
    ASSERT_EQ(MetricReader::create("other", "")->read(line), std::nullopt) << line;
  }
}

TEST(MetricLines, SayWhatTheyHaveValuesOf) {
  EXPECT_THAT(metric_names_in(R"({"epoch": 3, "accuracy": 0.91, "note": "good"})"),
              testing::UnorderedElementsAre("epoch", "accuracy"));
  EXPECT_THAT(metric_names_in(R"(step 5 {"eval": {"acc": "nan"}})"), ElementsAre("acc"));
  EXPECT_THAT(metric_names_in(R"(:::MLLOG {"key": "eval_accuracy", "value": 0.9, "time_ms": 5})"),
              ElementsAre("eval_accuracy"));
  EXPECT_THAT(metric_names_in("12:30 epoch=3 val/loss: 0.5. state: good"), ElementsAre("epoch", "val/loss"));
  EXPECT_THAT(metric_names_in("{'loss': nan, 'acc': 0.5, 'note': 'good'}"), ElementsAre("loss", "acc"));
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
  EXPECT_EQ(stated_time_s("{'time_s': 3, 'loss': nan}"), 3);
  EXPECT_EQ(event_of(R"(:::MLLOG {"time_ms": 1500, "key": "run_start"})"), "run_start");
  EXPECT_EQ(event_of(R"({"event": "run_start", "time_s": 3})"), "run_start");
  EXPECT_EQ(event_of(R"({"key": 3})"), "");
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
