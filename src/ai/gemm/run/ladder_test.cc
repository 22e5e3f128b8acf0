#include "ai/gemm/run/ladder.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "ai/gemm/run/worker_process.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process/interrupt.h"
#include "base/process/process_tree.h"
#include "base/text.h"

namespace perfcast::ai::gemm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kGuinea = PERFCAST_BINARY_DIR "/bin/perfcast_gemm_guinea_worker";

// Entries of one ladder share a command, so each ladder here has one behaviour.
LadderOptions behaving(const std::string& how, const std::string& file = "") {
  LadderOptions options;
  options.worker = {kGuinea, how};
  if (!file.empty()) options.worker.push_back(file);
  options.rounds = 4;
  options.turn_s = 0.001;
  return options;
}

LadderEntry entry(const std::string& name) {
  LadderEntry entry;
  entry.spec = {"gemm", name, {1, 1, 1}, 1, 1, {}};
  return entry;
}

// SIGTERM to ourselves in a moment.
void alarm_by_signal() {
  std::thread([] {
    usleep(200'000);
    kill(getpid(), SIGTERM);
  }).detach();
}

Measurement one(const LadderOptions& options, const LadderEntry& of = entry("a")) {
  auto measured = run_ladder({of}, options);
  EXPECT_TRUE(measured);
  return measured ? measured->measured.front() : Measurement{};
}

TEST(Ladder, MeasuresWhatIsRight) {
  const Measurement measured = one(behaving("good"));
  EXPECT_TRUE(measured.ran());
  EXPECT_THAT(measured.samples_s, ElementsAre(1e-3, 1e-3, 1e-3, 1e-3));
  EXPECT_EQ(measured.kernel, "good");
  EXPECT_DOUBLE_EQ(measured.rate(), 1e9);
  EXPECT_EQ(measured.spread(), 0);
  Measurement once = measured;
  once.samples_s = {1e-3};
  EXPECT_TRUE(std::isnan(once.spread()));
  once.samples_s = {1, 2, 3, 4, 5};
  EXPECT_DOUBLE_EQ(once.spread(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(measured.on_cpu(), 0.5);
}

TEST(Ladder, WrongResultsHaveNoTime) {
  const Measurement measured = one(behaving("wrong"));
  EXPECT_FALSE(measured.ran());
  EXPECT_EQ(measured.skipped, "");
  EXPECT_TRUE(measured.samples_s.empty());
  EXPECT_EQ(measured.verdict.detail, "row 3 is wrong");
  EXPECT_TRUE(std::isnan(measured.median_s()));
}

TEST(Ladder, SaysWhyATaskDidNotRun) {
  EXPECT_EQ(one(behaving("unavailable")).skipped, "not on this one");
  EXPECT_EQ(one(behaving("fails")).skipped, "failed: not on this one");
  EXPECT_THAT(one(behaving("dies")).skipped, HasSubstr("by signal Killed: the last word"));
  EXPECT_THAT(one(behaving("babble")).skipped, HasSubstr("makes no sense"));
  LadderEntry guessed = entry("a");
  guessed.guess_first = true;
  EXPECT_THAT(one(behaving("slow"), guessed).skipped, HasSubstr("would take about"));
  EXPECT_TRUE(one(behaving("good"), guessed).ran());
  LadderOptions nothing = behaving("good");
  nothing.worker = {"/nonexistent/worker"};
  EXPECT_EQ(run_ladder({entry("a")}, nothing).error().code, "program-not-found");
}

TEST(Ladder, TakesTurns) {
  char folder[] = "/tmp/perfcast-ladder-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string file = std::string(folder) + "/runs";
  const auto measured = run_ladder({entry("a"), entry("b"), entry("c")}, behaving("good", file));
  ASSERT_TRUE(measured);
  std::vector<std::string> runs = split(*read_file(file), '\n');
  std::filesystem::remove_all(folder);
  runs.pop_back();
  // First each alone: a run to check, a run to time it. Then turns of a warm-up and a sample; another begins each
  // round.
  ASSERT_EQ(runs.size(), 3u * 2 + 4 * 3 * 2);
  std::string order;
  for (const std::string& run : runs) {
    order += run == runs[0] ? 'a' : run == runs[2] ? 'b' : run == runs[4] ? 'c' : '?';
  }
  EXPECT_EQ(order, "aabbccaabbccbbccaaccaabbaabbcc");
}

TEST(Ladder, SlowTasksRunAsOftenAsTheBudgetAllows) {
  LadderOptions options = behaving("good");
  options.budget_s = 0.0031;  // three turns of a call of 1 ms
  EXPECT_EQ(one(options).samples_s.size(), 3u);
  options.budget_s = 0.0005;  // none: one, and it says so
  const Measurement measured = one(options);
  EXPECT_EQ(measured.samples_s.size(), 1u);
  EXPECT_THAT(measured.note, HasSubstr("1 run: time limit"));
  LadderEntry peak = entry("peak");
  peak.keep_all_rounds = true;
  EXPECT_EQ(one(options, peak).samples_s.size(), 4u);
}

// A signal at the third turn: two tasks keep the sample that they have, the third was never timed.
TEST(Ladder, AnInterruptLeavesWhatWasMeasured) {
  forget_interrupt();
  LadderOptions options = behaving("good");
  int turns = 0;
  options.progress = [&turns](const std::string& text) {
    if (text.starts_with("round") && ++turns == 3) kill(getpid(), SIGINT);
  };
  const auto run = run_ladder({entry("a"), entry("b"), entry("c")}, options);
  ASSERT_TRUE(run);
  ASSERT_TRUE(run->interrupted);
  EXPECT_EQ(run->interrupted->kind, ErrorKind::kInterrupted);
  EXPECT_EQ(interrupting_signal(), SIGINT);
  ASSERT_EQ(run->measured.size(), 3u);
  EXPECT_THAT(run->measured[0].samples_s, ElementsAre(1e-3));
  EXPECT_TRUE(run->measured[1].ran());
  EXPECT_EQ(run->measured[2].skipped, "interrupted");
  EXPECT_TRUE(children_of(getpid()).empty());
  forget_interrupt();

  // While a worker is silent: at once, and not when its time is up.
  LadderOptions silent = behaving("silent");
  silent.progress = [](const std::string&) { alarm_by_signal(); };
  const auto start = std::chrono::steady_clock::now();
  const auto none = run_ladder({entry("a")}, silent);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 20);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->interrupted);
  EXPECT_EQ(none->measured[0].skipped, "interrupted");
  forget_interrupt();
  EXPECT_TRUE(one(behaving("good")).ran());  // the next one is not disturbed
}

TEST(WorkerProcess, IsEndedWhenItKeepsSilent) {
  auto worker = WorkerProcess::start({kGuinea, "silent"}, {});
  ASSERT_TRUE(worker);
  const auto start = std::chrono::steady_clock::now();
  const auto answer = worker->ask({{"do", "run"}}, 0.1);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 5);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("no answer within"));
  EXPECT_FALSE(worker->alive());
  EXPECT_FALSE(worker->ask({{"do", "run"}}, 0.1));
}

TEST(WorkerProcess, StandsStillWhilePaused) {
  auto worker = WorkerProcess::start({kGuinea, "good"}, {});
  ASSERT_TRUE(worker);
  ASSERT_TRUE(worker->ask({{"do", "run"}}, 5));
  worker->pause();
  const std::string file = "/proc/" + std::to_string(worker->pid()) + "/stat";
  std::string state;
  for (int i = 0; i < 200 && state != "T"; ++i) {
    const auto text = read_file(file);
    ASSERT_TRUE(text);
    state = text->substr(text->rfind(')') + 2, 1);
    usleep(1000);
  }
  EXPECT_EQ(state, "T");
  worker->resume();
  EXPECT_TRUE(worker->ask({{"do", "run"}}, 5));
}

TEST(WorkerProcess, HasItsEnvironment) {
  auto worker =
      WorkerProcess::start({"/bin/sh", "-c", "read x; echo \"{\\\"ok\\\": true, \\\"it\\\": \\\"$PERFCAST_X\\\"}\""},
                           {{"PERFCAST_X", "here"}});
  ASSERT_TRUE(worker);
  const auto answer = worker->ask({{"do", "run"}}, 5);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ((*answer)["it"], "here");
}

// The real worker, with what no sound parent sends.
TEST(Worker, RefusesNonsense) {
  auto worker = WorkerProcess::start({kGuinea}, {});
  ASSERT_TRUE(worker);
  const auto code = [&worker](const Json& request) {
    const auto answer = worker->ask(request, 10);
    return answer ? std::string("ok") : answer.error().code;
  };
  EXPECT_EQ(code({{"do", "run"}}), "unknown-task");
  EXPECT_EQ(code(Json::array()), "bad-json-field");
  EXPECT_EQ(code({{"do", "prepare"}}), "bad-json-field");
  Json spec = to_json(TaskSpec{"gemm", "eigen", {4, 4, 4}, 1, ~uint64_t{0}, {}});
  EXPECT_EQ(task_spec_from(spec)->seed, ~uint64_t{0});
  EXPECT_EQ(code({{"do", "prepare"}, {"spec", spec}}), "ok");
  EXPECT_EQ(code({{"do", "run"}, {"calls", 0}}), "bad-usage");
  EXPECT_EQ(code({{"do", "run"}, {"calls", 3}}), "ok");
  EXPECT_EQ(code({{"do", "check"}}), "ok");
  for (const auto& [field, value] : std::initializer_list<std::pair<const char*, Json>>{{"op", "none"},
                                                                                        {"rung", "none"},
                                                                                        {"threads", 0},
                                                                                        {"threads", 1 << 20},
                                                                                        {"seed", "x1"},
                                                                                        {"sizes", {1, 2}},
                                                                                        {"sizes", {0, 1, 1}},
                                                                                        {"sizes", "4"}}) {
    Json bad = spec;
    bad[field] = value;
    EXPECT_NE(code({{"do", "prepare"}, {"spec", bad}}), "ok") << field << value;
  }
  EXPECT_TRUE(worker->alive());
}

}  // namespace
}  // namespace perfcast::ai::gemm
