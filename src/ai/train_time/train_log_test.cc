#include "ai/train_time/train_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;

const MetricReader& accuracy() {
  static const MetricReader reader = *MetricReader::create("accuracy", "");
  return reader;
}

Result<TrainLog> parse(const std::string& text) { return parse_train_log(text, "l", accuracy(), "mine"); }

TEST(TrainLog, IsReadAsItWasWritten) {
  TrainCurve curve;
  curve.system = "a \"b\"";
  curve.seed = 3;
  curve.state = TrainRunState::kFailed;
  curve.why = "status 1";
  curve.wall_s = 12.5;
  RunMeter meter;
  meter.name = "rapl:package-0";
  meter.covers = "CPU package 0";
  meter.energy_joules = 70;
  meter.uncertainty_joules = 2;
  curve.meters = {meter, {"nvml:0", "GPU 0", {}, {}, "no readings"}};
  const std::string text = train_log_head("accuracy") + train_log_start(curve.system, 3, {"train", "3"}) +
                           train_log_reading(curve.system, 3, {1.25, 0.5}) +
                           train_log_reading(curve.system, 3, {2.5, NAN}) + train_log_end(curve);
  const auto log = parse(text);
  ASSERT_TRUE(log) << to_text(log.error());
  EXPECT_TRUE(log->is_own);
  EXPECT_EQ(log->whole_bytes, text.size());
  ASSERT_EQ(log->curves.size(), 1u);
  const TrainCurve& read = log->curves[0];
  EXPECT_EQ(read.system, curve.system);
  EXPECT_EQ(read.seed, 3);
  EXPECT_EQ(read.state, TrainRunState::kFailed);
  EXPECT_EQ(read.why, "status 1");
  EXPECT_EQ(read.wall_s, 12.5);
  ASSERT_EQ(read.readings.size(), 2u);
  EXPECT_EQ(read.readings[0].time_s, 1.25);
  EXPECT_EQ(read.readings[0].value, 0.5);
  EXPECT_TRUE(std::isnan(read.readings[1].value));
  ASSERT_EQ(read.meters.size(), 2u);
  EXPECT_EQ(read.meters[0].energy_joules, 70);
  EXPECT_FALSE(read.meters[1].energy_joules);
  EXPECT_EQ(read.meters[1].why_missing, "no readings");
  EXPECT_EQ(log->commands.at(curve.system).back(), "3");
}

TEST(TrainLog, LosesNoMoreThanItsLastLine) {
  const std::string whole =
      train_log_head("accuracy") + train_log_start("a", 1, {"x"}) + train_log_reading("a", 1, {1, 0.5});
  const auto log = parse(whole + R"({"event": "reading", "system": "a", "se)");
  ASSERT_TRUE(log) << to_text(log.error());
  EXPECT_EQ(log->whole_bytes, whole.size());
  EXPECT_EQ(log->curves[0].readings.size(), 1u);
  EXPECT_EQ(log->curves[0].state, TrainRunState::kCutOff);
  // Begun again, a seed counts once.
  const auto again = parse(whole + train_log_start("a", 1, {"x"}) + train_log_reading("a", 1, {2, 0.7}));
  ASSERT_EQ(again->curves.size(), 1u);
  EXPECT_EQ(again->curves[0].readings[0].value, 0.7);
}

TEST(TrainLog, IsSpentWhereAllHaveEndedWithoutAnEvaluation) {
  TrainCurve curve;
  curve.system = "a";
  const std::string begun = train_log_head("accuracy") + train_log_start("a", 1, {"x"});
  EXPECT_FALSE(is_spent_record(begun));  // may be running
  EXPECT_TRUE(is_spent_record(begun + train_log_end(curve)));
  EXPECT_FALSE(is_spent_record(begun + train_log_reading("a", 1, {1, 0.5}) + train_log_end(curve)));
  EXPECT_FALSE(is_spent_record("time_s,accuracy\n"));
  EXPECT_FALSE(is_spent_record(""));
}

TEST(TrainLog, RefusesWhatIsNone) {
  EXPECT_EQ(parse(train_log_head("loss")).error().code, "other-metric");
  EXPECT_EQ(parse(train_log_head("accuracy") + train_log_reading("a", 1, {1, 1})).error().code, "bad-log");
  EXPECT_EQ(parse(train_log_head("accuracy") + "nonsense\n" + train_log_start("a", 1, {"x"})).error().code, "bad-log");
  EXPECT_EQ(parse("").error().code, "no-readings");
  const auto untimed = parse("accuracy=0.5\naccuracy=0.6\n");
  EXPECT_THAT(untimed.error().message, HasSubstr("2 lines have 'accuracy', none of them states a time"));
}

TEST(TrainLog, TakesTablesOfOthers) {
  const auto log = parse("system,seed,time_min,accuracy\na,1,2,0.7\na,1,1,0.5\na,2,1,0.6\nb,1,3,\nb,1,4,0.9\n");
  ASSERT_TRUE(log) << to_text(log.error());
  ASSERT_EQ(log->curves.size(), 3u);
  EXPECT_EQ(log->curves[0].readings[0].time_s, 60);  // sorted
  EXPECT_EQ(log->curves[0].readings[1].value, 0.7);
  EXPECT_EQ(log->curves[2].readings.size(), 1u);
  EXPECT_EQ(log->curves[2].state, TrainRunState::kImported);
  const auto diverged = parse("time_s,accuracy\n1,0.5\n2,nan\n3,-inf\n");
  ASSERT_TRUE(diverged) << to_text(diverged.error());
  ASSERT_EQ(diverged->curves[0].readings.size(), 3u);
  EXPECT_TRUE(std::isnan(diverged->curves[0].readings[1].value));
  EXPECT_EQ(parse("time_s,accuracy\n1,good\n").error().code, "bad-number");
  EXPECT_EQ(parse("time_s,loss\n1,2\n").error().code, "missing-column");
  EXPECT_EQ(parse("time_s,accuracy\n-1,2\n").error().code, "bad-log");
  EXPECT_EQ(parse("time_s,accuracy,seed\n1,2,x\n").error().code, "bad-number");
  EXPECT_EQ(parse("time_s,accuracy\n").error().code, "no-readings");
}

TEST(TrainLog, TakesLinesOfOthers) {
  const auto log = parse(
      ":::MLLOG {\"key\": \"run_start\", \"value\": null, \"time_ms\": 1700000000000}\n"
      "noise\n"
      ":::MLLOG {\"key\": \"accuracy\", \"value\": 0.75, \"time_ms\": 1700000090000}\n");
  ASSERT_TRUE(log) << to_text(log.error());
  EXPECT_EQ(log->curves[0].system, "mine");
  EXPECT_EQ(log->curves[0].readings[0].time_s, 90);
  const auto plain = parse("{\"time_s\": 5, \"accuracy\": 0.5}\n{\"time_s\": 9, \"accuracy\": 0.6}\n");
  EXPECT_EQ(plain->curves[0].readings[1].time_s, 9);  // not from the first line: it says since when
}

std::string event(const char* key, int64_t ms, const std::string& value = "null") {
  return ":::MLLOG {\"key\": \"" + std::string(key) + "\", \"value\": " + value +
         ", \"time_ms\": " + std::to_string(1'700'000'000'000 + ms) + "}\n";
}

TEST(TrainLog, CountsFromTheRunsStart) {
  const std::string init = event("cache_clear", 0) + event("init_start", 500) + "Loading ...\n";
  const std::string run = event("run_start", 900'020) + event("accuracy", 960'020, "0.5") +
                          event("accuracy", 1'140'020, "NaN") + event("run_stop", 1'140'120);
  const auto log = parse(init + run);
  ASSERT_TRUE(log) << to_text(log.error());
  ASSERT_EQ(log->curves[0].readings.size(), 2U);
  EXPECT_DOUBLE_EQ(log->curves[0].readings[0].time_s, 60);
  EXPECT_DOUBLE_EQ(log->curves[0].readings[1].time_s, 240);
  EXPECT_TRUE(std::isnan(log->curves[0].readings[1].value));
  EXPECT_TRUE(log->notes.empty());
  // Another line, by a pattern: the next time that is stated.
  const auto loaded = parse_train_log(init + run, "l", accuracy(), "mine", "Loading|seed");
  ASSERT_TRUE(loaded) << to_text(loaded.error());
  EXPECT_DOUBLE_EQ(loaded->curves[0].readings[0].time_s, 60);
  const auto cleared = parse_train_log(init + run, "l", accuracy(), "mine", "cache_clear");
  EXPECT_NEAR(cleared->curves[0].readings[0].time_s, 960.02, 1e-6);
  EXPECT_EQ(parse_train_log(init + run, "l", accuracy(), "mine", "nowhere").error().code, "no-start");
  EXPECT_EQ(parse_train_log(init + run, "l", accuracy(), "mine", "(").error().code, "bad-usage");
  // Without a start: the first line, and so noted.
  const auto bare = parse(event("cache_clear", 0) + event("accuracy", 2000, "0.5"));
  EXPECT_DOUBLE_EQ(bare->curves[0].readings[0].time_s, 2);
  ASSERT_EQ(bare->notes.size(), 1U);
  EXPECT_THAT(bare->notes[0], HasSubstr("times count from the log's first line"));
}

TEST(TrainLog, SeveralRunsAreSeeds) {
  const auto run = [](int64_t from_ms) {
    return event("run_start", from_ms) + event("run_start", from_ms + 3) +  // of two processes
           event("accuracy", from_ms + 5000, "0.5") + event("run_stop", from_ms + 6000);
  };
  const auto log = parse(run(0) + event("init_start", 7000) + run(100'000));
  ASSERT_TRUE(log) << to_text(log.error());
  ASSERT_EQ(log->curves.size(), 2U);
  EXPECT_DOUBLE_EQ(log->curves[0].readings[0].time_s, 5);
  EXPECT_DOUBLE_EQ(log->curves[1].readings[0].time_s, 5);
  EXPECT_EQ(log->curves[1].seed, 2);
}

// Logs of every make: what stands before the run, whose lines, how they end.
TEST(TrainLog, CountsFromTheStartHoweverItIsWritten) {
  Random random(9);
  for (int round = 0; round < 500; ++round) {
    const bool by_clock = random.below(4) > 0;
    const int64_t begin_ms = by_clock ? 1'700'000'000'000 : 0,
                  start_ms = 1000 * static_cast<int64_t>(random.below(5000));
    const char* const kPrefixes[] = {":::MLLOG ", "0: :::MLLOG ", "[rank0] \x1b[36m", ""};
    const std::string prefix = kPrefixes[random.below(4)], end = random.below(2) == 0 ? "\r\n" : "\n";
    const bool python = prefix.empty() && random.below(2) == 0;
    std::string text;
    const auto add = [&](const std::string& key, int64_t ms, std::string value) {
      if (!python && value.empty()) value = "null";
      if (python && value.empty()) value = "None";
      std::string line = R"({"key": ")";
      line.append(key).append(R"(", "value": )").append(value).append(R"(, "time_ms": )");
      line.append(std::to_string(begin_ms + ms)).append("}");
      if (python) std::replace(line.begin(), line.end(), '"', '\'');
      text.append(prefix).append(line).append(end);
      if (random.below(3) == 0) text.append("Loading {").append(end);
    };
    if (random.below(2) == 0) add("cache_clear", 0, "");
    if (random.below(2) == 0) add("init_start", start_ms / 2, "");
    add("run_start", start_ms, "");
    if (random.below(3) == 0) add("run_start", start_ms + 2, "");  // of another process
    std::vector<double> expected;
    for (uint64_t i = random.below(4) + 1; i > 0; --i) {
      const int64_t after_ms = 1000 + static_cast<int64_t>(random.below(100'000));
      expected.push_back(static_cast<double>(after_ms) / 1000);
      add("accuracy", start_ms + after_ms, random.below(4) == 0 ? (python ? "nan" : "NaN") : "0.5");
    }
    if (random.below(2) == 0) add("run_stop", start_ms + 200'000, "");
    const auto log = parse(text);
    ASSERT_TRUE(log) << text << to_text(log.error());
    ASSERT_EQ(log->curves.size(), 1U) << text;
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(log->curves[0].readings.size(), expected.size()) << text;
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(log->curves[0].readings[i].time_s, expected[i], 1e-5) << text;
  }
}

// As a spreadsheet of another country writes it.
TEST(TrainLog, SaysHowATableWasRead) {
  const auto log = parse("time_s;accuracy\n1,5;0,25\n3;0,75\n");
  ASSERT_TRUE(log) << to_text(log.error());
  EXPECT_EQ(log->curves[0].readings[0].time_s, 1.5);
  EXPECT_EQ(log->curves[0].readings[1].value, 0.75);
  ASSERT_EQ(log->notes.size(), 1U);
  EXPECT_EQ(log->notes[0], "l was read as having columns separated by semicolons; decimal commas");
}

TEST(TrainLog, TellsWhereAPatternIsOfNoUse) {
  const auto table = parse_train_log("\xEF\xBB\xBFtime_s,accuracy\r\n1,0.5\r\n", "l", accuracy(), "mine", "start");
  ASSERT_TRUE(table) << to_text(table.error());
  EXPECT_EQ(table->curves[0].readings[0].value, 0.5);
  ASSERT_EQ(table->notes.size(), 1U);
  EXPECT_THAT(table->notes[0], HasSubstr("--from has no effect"));
}

}  // namespace
}  // namespace perfcast::ai
