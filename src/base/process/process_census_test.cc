#include "base/process/process_census.h"

#include <gmock/gmock.h>

#include <chrono>
#include <numeric>

#include "base/process/process.h"
#include "base/text.h"

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

struct Counted {
  ProcessOutcome outcome;
  std::vector<CensusEntry> entries;
};

class Census : public testing::Test {
 protected:
  Counted run(std::vector<std::string> command) {
    ProcessCensus census;
    Status began;
    ProcessRequest request;
    request.executable = command[0];
    request.arguments = std::move(command);
    request.limit_s = 30;
    request.before_exec = [&](pid_t child) { began = census.begin(child); };
    const auto outcome = run_process(request);
    EXPECT_TRUE(outcome) << outcome.error().message;
    if (!began) {
      skipped_ = began.error().message;
      return {};
    }
    return {outcome ? *outcome : ProcessOutcome{}, census.end()};
  }
  std::vector<std::string> names(const std::vector<CensusEntry>& entries) {
    std::vector<std::string> result;
    result.reserve(entries.size());
    for (const CensusEntry& entry : entries) {
      result.push_back((entry.forked ? "copy of " : "") + entry.program.substr(entry.program.rfind('/') + 1));
    }
    return result;
  }
  std::string skipped_;
};

#define SKIP_WITHOUT_PTRACE() \
  if (!skipped_.empty()) GTEST_SKIP() << skipped_

TEST_F(Census, OfOneProcessIsItself) {
  const Counted counted = run({PERFCAST_GUINEA, "work", "20000000"});
  SKIP_WITHOUT_PTRACE();
  ASSERT_THAT(counted.entries, SizeIs(1));
  EXPECT_EQ(counted.entries[0].arguments, (std::vector<std::string>{PERFCAST_GUINEA, "work", "20000000"}));
  EXPECT_EQ(counted.entries[0].started_by, -1);
  EXPECT_TRUE(counted.entries[0].ended);
  EXPECT_NEAR(counted.entries[0].cpu_s, counted.outcome.cpu_s(), 0.02 + 0.1 * counted.outcome.cpu_s());
}

TEST_F(Census, NamesWhatAShellStarts) {
  const Counted counted = run({"/bin/sh", "-c", std::string(PERFCAST_GUINEA) + " work 20000000; exec env true"});
  SKIP_WITHOUT_PTRACE();
  EXPECT_EQ(counted.outcome.exit_code, 0);
  const std::string shell = names(counted.entries).front(), guinea = std::string(PERFCAST_GUINEA);
  const std::string worker = guinea.substr(guinea.rfind('/') + 1);
  EXPECT_THAT(names(counted.entries), ElementsAre(shell, "copy of " + shell, worker, "env", "true"));
  EXPECT_EQ(counted.entries[1].started_by, 0);
  EXPECT_EQ(counted.entries[2].started_by, 1);
  EXPECT_EQ(counted.entries[3].started_by, 0);
  EXPECT_EQ(counted.entries[4].started_by, 3);
  const double all_s = std::accumulate(counted.entries.begin(), counted.entries.end(), 0.0,
                                       [](double sum, const CensusEntry& entry) { return sum + entry.cpu_s; });
  EXPECT_GT(counted.entries[2].cpu_s, 0.8 * all_s);
}

TEST_F(Census, AddsUpThreads) {
  const Counted counted = run({PERFCAST_GUINEA, "threads", "3", "10000000"});
  SKIP_WITHOUT_PTRACE();
  ASSERT_THAT(counted.entries, SizeIs(1));
  EXPECT_NEAR(counted.entries[0].cpu_s, counted.outcome.cpu_s(), 0.03 + 0.1 * counted.outcome.cpu_s());
}

TEST_F(Census, LeavesEndingsAndSignalsAlone) {
  Counted counted = run({PERFCAST_GUINEA, "exit", "7"});
  SKIP_WITHOUT_PTRACE();
  EXPECT_EQ(counted.outcome.exit_code, 7);
  counted = run({PERFCAST_GUINEA, "kill", "9"});
  EXPECT_EQ(counted.outcome.signal, 9);
  ASSERT_THAT(counted.entries, SizeIs(1));
  EXPECT_TRUE(counted.entries[0].ended);
  // Children that stop and go on, one that nobody waits for, and one that is killed.
  counted = run({"/bin/sh", "-c",
                 "sh -c 'kill -STOP $$; exit 0' & sleep 0.1; kill -CONT $!; wait $!; (sleep 60 &); sleep 60 & kill $!; "
                 "wait $!; exit 3"});
  EXPECT_EQ(counted.outcome.exit_code, 3);
}

// Threads that are killed on their way out, as the process ends at the same time: it must not stay for ever.
TEST_F(Census, LetsProcessesWithThreadsEnd) {
  const std::string command = std::string(PERFCAST_GUINEA) + " abandon 3";
  const Counted counted =
      run({"/bin/sh", "-c", "i=0; while [ $i -lt 200 ]; do " + command + "; i=$((i+1)); done; exit 4"});
  SKIP_WITHOUT_PTRACE();
  EXPECT_FALSE(counted.outcome.limit_reached);
  EXPECT_EQ(counted.outcome.exit_code, 4);
  EXPECT_EQ(counted.entries.size(), 1U + 2 * 200);
}

TEST_F(Census, OfManyProcessesIsComplete) {
  const auto begin = std::chrono::steady_clock::now();
  const Counted counted = run({"/bin/sh", "-c", "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done"});
  SKIP_WITHOUT_PTRACE();
  EXPECT_EQ(counted.entries.size(), 1U + 2 * 200);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace perfcast
