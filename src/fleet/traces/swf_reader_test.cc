#include "fleet/traces/swf_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// job submit wait run allocated cpu memory requested time memory status user group executable queue partition
// preceding think
constexpr const char* kSwfTrace =
    "; Computer: Toy\r\n"
    "; MaxProcs: 100 (in the batch pool)\n"
    ";MaxNodes: 50\n"
    "; UnixStartTime: 843800000\n"
    "; MaxRuntime: 216000\n"
    "; a comment without a key\n"
    "\n"
    "1 0 5 100 4 -1 -1 4 200 1024 1 7 1 3 1 -1 -1 -1\n"
    "  2   10 0 50.5 -1 -1 -1 8 -1 -1 0 9 1 -1 1 -1 1 30\r\n"
    "3 20 0 300 2 -1 -1 -1 120 -1 5 7 1 3 1 -1 99 10\n"
    "4 30 60 -1 -1 -1 -1 16 600 -1 5 7 1 3 1 -1 -1 -1\n"
    "5 40 -1 -1 2 -1 -1 2 600 -1 1 7 1 3 1 -1 -1 -1\n"
    "6 35 0 0 1 -1 -1 1 60 -1 1 7 1 3 1 -1 -1 -1 extra\n"
    "7 -1 0 10 1 -1 -1 1 60 -1 1 7 1 3 1 -1 -1 -1\n"
    "8 50 0 10 -1 -1 -1 0 60 -1 1 7 1 3 1 -1 -1 -1\n"
    "9 60 0 10 200 -1 -1 200 60 -1 1 7 1 3 1 -1 -1 -1\n"
    "9 70 0 10 1 -1 -1 1 60 -1 1 7 1 3 1 -1 -1 -1\n"
    "10 80 0 30 1 -1 -1 1 60 -1 1 7 1 3 1 -1 -1 -1\n"
    "10 80 0 10 1 -1 -1 1 60 -1 2 7 1 3 1 -1 -1 -1\n"
    "10 95 5 20 1 -1 -1 1 60 -1 3 7 1 3 1 -1 -1 -1\n";

TEST(Swf, ReadsAndCountsEveryOddity) {
  const auto trace = parse_swf(kSwfTrace, "toy.swf");
  ASSERT_TRUE(trace) << to_text(trace.error());
  EXPECT_EQ(trace->header.max_procs, 100);
  EXPECT_EQ(trace->header.max_nodes, 50);
  EXPECT_EQ(trace->header.unix_start_time_s, 843800000);
  EXPECT_EQ(trace->header.max_runtime_s, 216000);
  EXPECT_EQ(trace->header.computer, "Toy");
  const Workload& w = trace->workload;
  EXPECT_THAT(w.platforms, ElementsAre("any"));
  ASSERT_EQ(w.size(), 7u);
  std::vector<int64_t> ids;
  for (const JobRequest& job : w.jobs) ids.push_back(job.id);
  EXPECT_THAT(ids, ElementsAre(1, 2, 3, 6, 9, 11, 10));
  EXPECT_THAT(w.time_s, ElementsAre(100, 50.5, 300, 0, 10, 10, 30));
  EXPECT_EQ(w.jobs[0].cores, 4);
  EXPECT_TRUE(w.jobs[0].spread);
  EXPECT_EQ(w.jobs[0].limit_s, 200);
  EXPECT_EQ(w.jobs[0].memory_bytes, 4.0 * 1024 * 1024);
  EXPECT_EQ(w.owners[static_cast<size_t>(w.jobs[0].owner)], "user 7");
  EXPECT_EQ(w.programs[static_cast<size_t>(w.jobs[0].program)], "executable 3");
  EXPECT_EQ(w.jobs[1].cores, 8);
  EXPECT_TRUE(std::isnan(w.jobs[1].limit_s));
  EXPECT_EQ(w.jobs[1].program, kNoIndex);
  EXPECT_EQ(w.jobs[1].after, 0);
  EXPECT_EQ(w.jobs[1].think_s, 30);
  EXPECT_EQ(w.jobs[2].limit_s, 300);
  EXPECT_EQ(w.jobs[2].after, kNoIndex);
  EXPECT_EQ(w.jobs[2].think_s, 0);
  EXPECT_EQ(w.jobs[4].cores, 200);
  EXPECT_THAT(
      w.notes,
      ElementsAre("1 job without a submit time: left out", "1 job without a run time: left out",
                  "1 job without a number of processors: left out", "1 job cancelled before the start: left out",
                  "1 job cancelled while running: kept, as long as it ran",
                  "1 job that failed: kept, as long as it ran",
                  "2 jobs given as parts of another (status 2 to 4): left out", "1 job with a run time of 0 s: kept",
                  "1 job without allocated processors: the requested ones taken",
                  "1 job without requested processors: the allocated ones taken",
                  "1 job without a requested time: no limit, no estimate",
                  "1 job running beyond the requested time: limit raised to the run time",
                  "1 job asking for more processors than the machine has: kept",
                  "1 job following a job that isn't there: not waited for",
                  "1 job with a number used before: numbered on from the largest",
                  "1 job with more than 18 fields: the first 18 taken"));
}

TEST(Swf, OptionsChooseWhatIsKept) {
  SwfOptions options;
  options.platform = "SP2";
  options.kill_at_limit = true;
  options.keep_cancelled = true;
  options.keep_parts = true;
  options.drop_too_large = true;
  options.default_limit_s = 3600;
  const auto trace = parse_swf(kSwfTrace, "toy.swf", options);
  ASSERT_TRUE(trace) << to_text(trace.error());
  const Workload& w = trace->workload;
  ASSERT_EQ(w.size(), 8u);
  EXPECT_THAT(w.platforms, ElementsAre("SP2"));
  EXPECT_EQ(w.jobs[1].limit_s, 3600);
  EXPECT_EQ(w.jobs[2].limit_s, 120);  // of 300 s: to be killed
  EXPECT_EQ(w.jobs[3].id, 4);
  EXPECT_EQ(w.jobs[3].cancelled_s, 90);
  EXPECT_EQ(w.time_s[3], 0);
  EXPECT_EQ(w.jobs[5].id, 9);  // the other job 9 was too large
  EXPECT_EQ(w.jobs[6].id, 10);
  EXPECT_EQ(w.time_s[6], 10);
  EXPECT_EQ(w.jobs[7].after, 6);
  EXPECT_EQ(w.jobs[7].arrival_s, 95);
  EXPECT_EQ(w.time_s[7], 20);
  EXPECT_THAT(w.notes, testing::Contains("1 job given in parts too: their sum left out"));
  EXPECT_THAT(w.notes, testing::Contains("1 job asking for more processors than the machine has: left out"));

  options.keep_failed = false;
  const auto fewer = parse_swf(kSwfTrace, "toy.swf", options);
  ASSERT_TRUE(fewer);
  EXPECT_EQ(fewer->workload.size(), 6u);
  EXPECT_THAT(fewer->workload.notes, testing::Contains("2 jobs failed or cancelled while running: left out"));
}

TEST(Swf, WaitsBelowZeroAreNotKnown) {
  const auto trace = parse_swf("1 0 -3 100 4 -1 -1 4 200 -1 1 7 1 3 1 -1 -1 -1\n", "t.swf", SwfOptions());
  ASSERT_TRUE(trace) << to_text(trace.error());
  EXPECT_EQ(trace->workload.size(), 1U);
  EXPECT_THAT(trace->workload.notes, testing::Contains(HasSubstr("with a wait below 0")));
}

TEST(Swf, SortsAndKeepsReferences) {
  const auto trace = parse_swf(
      "1 100 0 1 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n"
      "2 50 0 2 1 -1 -1 1 5 -1 1 1 1 1 1 1 1 -1\n",
      "x");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->workload.jobs[0].id, 2);
  EXPECT_EQ(trace->workload.jobs[0].after, 1);
  EXPECT_THAT(trace->workload.time_s, ElementsAre(2, 1));
  EXPECT_THAT(trace->workload.notes, ElementsAre("1 job submitted before the line ahead of it: sorted"));
}

TEST(Swf, ErrorsNameFileAndLine) {
  const auto error = [](const std::string& text) {
    const auto trace = parse_swf(text, "t.swf");
    return trace ? Error{"ok", "", "", ""} : trace.error();
  };
  const std::string good = "1 0 0 1 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n";
  EXPECT_EQ(error(good).code, "ok");
  const Error shorter = error(good + "; c\n1 2 3\n");
  EXPECT_EQ(shorter.code, "bad-swf");
  EXPECT_EQ(shorter.where, "t.swf:3");
  EXPECT_THAT(shorter.message, HasSubstr("found 3 fields"));
  const Error word = error("1 0 0 one 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n");
  EXPECT_EQ(word.where, "t.swf:1");
  EXPECT_THAT(word.message, HasSubstr("field 4 (run time) is 'one'"));
  EXPECT_EQ(error("1 -5 0 1 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n").code, "bad-swf");
  EXPECT_EQ(error("1 0 0 nan 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n").code, "bad-swf");
  EXPECT_EQ(error("1 0 0 1 1.5 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n").code, "bad-swf");
  EXPECT_EQ(error("1 0 0 1 9999999999 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n").code, "bad-swf");
  EXPECT_EQ(error("").code, "bad-workload");
  EXPECT_EQ(error("").where, "t.swf");
  const Error circle = error(
      "1 0 0 1 1 -1 -1 1 5 -1 1 1 1 1 1 1 2 -1\n"
      "2 0 0 1 1 -1 -1 1 5 -1 1 1 1 1 1 1 1 -1\n");
  EXPECT_EQ(circle.code, "cyclic-dependency");
  EXPECT_EQ(circle.where, "t.swf: job 1");
  EXPECT_EQ(read_swf("/nonexistent/x.swf").error().code, "file-not-found");
}

TEST(Swf, ClusterHasTheHeadersProcessors) {
  const auto trace = parse_swf(kSwfTrace, "toy.swf");
  ASSERT_TRUE(trace);
  const Cluster cluster = swf_cluster(*trace);
  ASSERT_TRUE(check_cluster(cluster));
  EXPECT_EQ(cluster.nodes(), 100);
  EXPECT_EQ(cluster.cores(), 100);
  EXPECT_EQ(cluster.groups[0].platform, "any");
  const auto bare = parse_swf("1 0 0 1 12 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n", "x");
  EXPECT_EQ(swf_cluster(*bare).nodes(), 12);
}

}  // namespace
}  // namespace perfcast::fleet
