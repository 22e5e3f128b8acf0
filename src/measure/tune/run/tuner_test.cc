#include "measure/tune/run/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "measure/tune/replay/recorded_space.h"

namespace perfcast::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TuneFile space_of(const std::string& knobs, const std::string& more = "") {
  auto file = parse_tune_file(
      R"({"schema": "perfcast.tune/1", "knobs": [)" + knobs + "]" + (more.empty() ? "" : ", " + more) + "}", "t.json");
  EXPECT_TRUE(file) << to_text(file.error());
  return file ? std::move(*file) : TuneFile();
}

TuneRequest request_of(const TuneFile& file, std::vector<std::string> command) {
  TuneRequest request;
  request.file = &file;
  request.command = std::move(command);
  request.budget_s = 4000;  // `trials` end it, whatever the machine is busy with
  request.limit_s = 60;
  return request;
}

constexpr const char* kPrinted = R"x("objective": {"measure": "printed", "pattern": "cost ([0-9.]+)"})x";

TEST(CommandTemplate, FillsInWhatIsInPlay) {
  const TuneFile file =
      space_of(R"({"name": "n", "values": [1, 2]}, {"name": "V", "kind": "environment", "values": ["a", "b c"]},
    {"name": "t", "kind": "threads", "values": [2, 4]}, {"name": "fast", "kind": "flag", "flag": "-f"},
    {"name": "level", "kind": "flag", "values": ["", "-O2 -g"]}, {"name": "m", "values": [7], "when": "n == 2"})");
  const auto command = CommandTemplate::create(file, {"p", "-n{n}", "{m}", "{flags}", "-m={m}", "{level}", "{print}"});
  ASSERT_TRUE(command) << to_text(command.error());
  const Setting low = {0, 0, 0, 0, 0, kNotInPlay}, high = {1, 1, 1, 1, 1, 0};
  EXPECT_THAT(command->arguments(low), ElementsAre("p", "-n1", "-m=", "{print}"));
  EXPECT_THAT(command->arguments(high), ElementsAre("p", "-n2", "7", "-f", "-m=7", "-O2", "-g", "{print}"));
  EXPECT_EQ(command->environment(high).at("V"), "b c");
  EXPECT_EQ(command->environment(high).at("OMP_NUM_THREADS"), "4");
  EXPECT_EQ(command->shell_line("x {V} {flags} {level} {output}", high, "/o'"), "x 'b c' '-f' '-O2' '-g' '/o'\\'''");
  const auto unused = CommandTemplate::create(file, {"p", "{n}", "{flags}"});
  ASSERT_FALSE(unused);
  EXPECT_EQ(unused.error().code, "unused-knob");
}

TEST(PrintedNumber, IsOfTheLastLineThatMatches) {
  EXPECT_EQ(printed_number("cost 3\nx\ncost 4.5 s\n", "cost ([0-9.]+)"), 4.5);
  EXPECT_FALSE(printed_number("cost 0\n", "cost ([0-9.]+)"));
  EXPECT_FALSE(printed_number("nothing", "cost ([0-9.]+)"));
}

TEST(Tune, FindsTheBestAndAvoidsWhatFails) {
  // 1 + |n - 7|, fails above 12, wrong at 7 where v is b.
  const TuneFile file = space_of(R"({"name": "n", "from": 1, "to": 16}, {"name": "v", "values": ["a", "b"]})",
                                 std::string(kPrinted) + R"(, "check": "! grep -q wrong {output}")");
  TuneRequest request = request_of(file, {"sh", "-c",
                                          "n={n}; [ $n -gt 12 ] && { echo too big >&2; exit 3; }; [ {v}$n = b7 ] && "
                                          "echo wrong; d=$((n - 7)); echo cost $((1 + ${d#-}))"});
  request.trials = 20;
  std::vector<LoggedRun> log;
  request.record = [&log](const LoggedRun& run) {
    log.push_back(run);
    return Status();
  };
  const auto tuning = tune(request);
  ASSERT_TRUE(tuning) << to_text(tuning.error());
  ASSERT_TRUE(tuning->best && tuning->standard);
  EXPECT_EQ(tuning->points, 32);
  EXPECT_EQ(tuning->tried.size(), 20u);
  EXPECT_THAT(tuning->tried[*tuning->best].setting, ElementsAre(6, 0));
  EXPECT_EQ(tuning->default_value, 7);
  EXPECT_EQ(tuning->best_value, 1);
  EXPECT_NEAR(tuning->gain, 7, 1e-9);
  EXPECT_TRUE(tuning->significant);
  EXPECT_GE(tuning->pairs, 6u);
  EXPECT_EQ(tuning->runs, log.size());
  for (const TriedPoint& point : tuning->tried) {
    if (point.setting[0] <= 11) continue;
    EXPECT_THAT(point.why, HasSubstr("status 3: too big"));
    EXPECT_EQ(point.state, TrialState::kFailed);
  }

  // The log brings everything back; nothing is run twice but the default and the last comparison.
  const std::string text = log_head(file, request.command, 1) + [&] {
    std::string lines;
    for (const LoggedRun& run : log) lines += log_line(file.space, run);
    return lines;
  }();
  const auto read_back = parse_trial_log(text + "{\"purpose\": \"sea", file.space, "log");
  ASSERT_TRUE(read_back) << to_text(read_back.error());
  EXPECT_EQ(read_back->whole_bytes, text.size());
  EXPECT_EQ(read_back->fingerprint, fingerprint_of(file, request.command));
  ASSERT_EQ(read_back->runs.size(), log.size());
  EXPECT_EQ(read_back->runs.back().setting, log.back().setting);
  request.resumed = read_back->runs;
  request.record = nullptr;
  const auto resumed = tune(request);
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->tried.size(), 20u);
  EXPECT_THAT(resumed->tried[*resumed->best].setting, ElementsAre(6, 0));

  // Another tuning that begins from it tries what was best first.
  request.resumed.clear();
  request.earlier = read_back->runs;
  request.trials = 6;
  const auto warm = tune(request);
  ASSERT_TRUE(warm);
  EXPECT_THAT(warm->tried[1].setting, ElementsAre(6, 0));
}

TEST(Tune, HalvingMeasuresAgain) {
  const TuneFile file = space_of(R"({"name": "n", "from": 1, "to": 16})", kPrinted);
  TuneRequest request = request_of(file, {"sh", "-c", "echo cost {n}0"});
  request.strategy = StrategyKind::kHalving;
  request.trials = 16;
  const auto tuning = tune(request);
  ASSERT_TRUE(tuning) << to_text(tuning.error());
  EXPECT_EQ(tuning->best, tuning->standard);
  EXPECT_EQ(tuning->gain, 1);
  EXPECT_EQ(tuning->lower, 1.0);
  EXPECT_GT(tuning->runs, 16u + 7);
}

TEST(Tune, UsesTheTimeToItsEndAndBeginsNoRunAfterIt) {
  const TuneFile file = space_of(R"({"name": "n", "from": 1, "to": 100})");
  TuneRequest request = request_of(file, {"sh", "-c", "sleep 0.1; : {n}"});
  request.budget_s = 3;
  const auto tuning = tune(request);
  ASSERT_TRUE(tuning) << to_text(tuning.error());
  EXPECT_GT(tuning->spent_s, 2.5);
  EXPECT_LT(tuning->spent_s, 3.5);
  EXPECT_GE(tuning->tried.size(), 2u);

  request.command = {"sh", "-c", "sleep 1; : {n}"};
  request.budget_s = 1.5;
  const auto slow = tune(request);
  ASSERT_TRUE(slow) << to_text(slow.error());
  EXPECT_EQ(slow->runs, 2u);
  EXPECT_LT(slow->spent_s, 2.9);
}

TEST(Tune, LooksAtWhatTheBestPrints) {
  const TuneFile file = space_of(R"({"name": "n", "values": [1, 2]})");
  TuneRequest request =
      request_of(file, {"sh", "-c", "[ {n} = 1 ] || { echo twice twice; exit; }; sleep 0.1; echo once"});
  request.budget_s = 3;
  const auto tuning = tune(request);
  ASSERT_TRUE(tuning) << to_text(tuning.error());
  EXPECT_THAT(tuning->tried[*tuning->best].setting, ElementsAre(1));
  ASSERT_TRUE(tuning->output);
  EXPECT_EQ(tuning->output->default_bytes, 5);
  EXPECT_EQ(tuning->output->best_bytes, 12);
  EXPECT_FALSE(tuning->output->is_same);
  EXPECT_TRUE(tuning->output->default_repeats);
}

TEST(Tune, SaysHowGoodTheNextBestIsWhereNothingIsBetter) {
  const TuneFile file = space_of(R"({"name": "n", "from": 1, "to": 3})", kPrinted);
  const auto tuning = tune(request_of(file, {"sh", "-c", "echo cost {n}0"}));
  ASSERT_TRUE(tuning) << to_text(tuning.error());
  EXPECT_EQ(tuning->best, tuning->standard);
  EXPECT_EQ(tuning->gain, 1);
  EXPECT_EQ(tuning->default_value, 10);
  EXPECT_EQ(tuning->rival, "the next best, n=2, is 0.500 times as good as the default (95% interval 0.500 .. 0.500)");
  EXPECT_FALSE(tuning->output);
}

TEST(Tune, WhatFailsInTheLastComparisonIsNotTheBest) {
  // 3 costs least and fails from its third run on: one of the search, one of the finalists.
  const TuneFile file = space_of(R"({"name": "n", "from": 1, "to": 4})", kPrinted);
  const std::string folder = testing::TempDir() + "/tune_fails_late";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  TuneRequest request = request_of(file, {"sh", "-c",
                                          "echo >> " + folder + "/{n}; [ {n} = 3 ] && [ $(wc -l < " + folder +
                                              "/3) -gt 2 ] && exit 1; case {n} in 1) echo cost 4;; 2) echo cost 3;; 3) "
                                              "echo cost 1;; *) echo cost 2;; esac"});
  request.repeats = 1;
  request.trials = 4;
  const auto tuning = tune(request);
  ASSERT_TRUE(tuning) << to_text(tuning.error());
  ASSERT_TRUE(tuning->best);
  EXPECT_THAT(tuning->tried[*tuning->best].setting, ElementsAre(3));
  EXPECT_EQ(tuning->failed_trials(), 1u);
  EXPECT_EQ(tuning->gain, 2);
  EXPECT_THAT(tuning->notes, testing::Contains(HasSubstr("in the last comparison n=3 did not work once: status 1")));
  std::filesystem::remove_all(folder);
}

TEST(Tune, ADefaultThatFailsIsAnError) {
  const TuneFile file = space_of(R"({"name": "n", "values": [1, 2]})");
  const auto tuning = tune(request_of(file, {"sh", "-c", "exit {n}"}));
  ASSERT_FALSE(tuning);
  EXPECT_EQ(tuning.error().code, "default-failed");
  EXPECT_THAT(tuning.error().message, HasSubstr("n=1: status 1"));
}

TEST(Tune, WhatHangsIsEnded) {
  const TuneFile file = space_of(R"({"name": "n", "values": [0, 600]})");
  TuneRequest request = request_of(file, {"sleep", "{n}"});
  request.limit_s = 2;
  request.trials = 2;
  const auto tuning = tune(request);
  ASSERT_TRUE(tuning) << to_text(tuning.error());
  ASSERT_EQ(tuning->tried.size(), 2u);
  EXPECT_EQ(tuning->tried[1].state, TrialState::kLimit);
  EXPECT_EQ(tuning->failed_trials(), 1u);
}

TEST(RecordSpace, WritesWhatAReplayReads) {
  const TuneFile file =
      space_of(R"({"name": "n", "values": [2, 1, 3]}, {"name": "v", "values": ["a", "b"]})", kPrinted);
  TuneRequest request = request_of(file, {"sh", "-c", "[ {n}{v} = 3b ] && exit 1; echo cost {n}"});
  request.repeats = 2;
  const auto recorded = record_space(request);
  ASSERT_TRUE(recorded) << to_text(recorded.error());
  EXPECT_EQ(recorded->csv, "n,v,time_s,valid\n2,a,2,1\n2,b,2,1\n1,a,1,1\n1,b,1,1\n3,a,3,1\n3,b,,0\n");
  EXPECT_EQ(recorded->invalid, 1u);
  EXPECT_EQ(recorded->rounds, 2u);
  EXPECT_TRUE(parse_recorded_space(recorded->csv, "r.csv"));
}

TEST(TrialLog, SaysWhatIsWrong) {
  const TuneFile file = space_of(R"({"name": "n", "values": [1, 2]})");
  const auto code = [&](const std::string& text) {
    const auto log = parse_trial_log(text, file.space, "l");
    return log ? "" : log.error().where;
  };
  const std::string head = log_head(file, {"x"}, 1);
  EXPECT_EQ(code(""), "l");
  EXPECT_EQ(code("{}\n"), "l:1");
  EXPECT_EQ(code(head + "{\"purpose\": \"search\"}\n"), "l:2");
  EXPECT_EQ(code(head), "");
  const auto unknown = parse_trial_log(
      head + R"({"purpose":"search","state":"done","knobs":{"n":"9"},"value":1})" + "\n", file.space, "l");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->unknown, 1u);
}

}  // namespace
}  // namespace perfcast::measure
