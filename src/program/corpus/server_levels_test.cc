#include "program/corpus/server_levels.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::program {
namespace {

TEST(ServerLevels, AreRatiosToTheMedianOfTheCpuModel) {
  std::vector<Server> servers(4);
  for (size_t i = 0; i < 4; ++i) {
    servers[i].vendor = "v";
    servers[i].name = "s" + std::to_string(i);
    servers[i].platform = i < 3 ? "p" : "q";
  }
  servers[3].facts[kServerTimeRatio] = 7;  // of another time: it has no second server now
  std::vector<struct Run> runs;
  const auto add = [&runs](const std::string& program, const std::string& server, double time_s, int64_t threads = 1) {
    struct Run run;
    run.program = program;
    run.platform = server == "v/s3" ? "q" : "p";
    run.server = server;
    run.time_s = time_s;
    run.threads = threads;
    runs.push_back(run);
  };
  for (const char* program : {"a", "b"}) {
    add(program, "v/s0", 1);
    add(program, "v/s1", 2);
    add(program, "v/s2", 4);
    add(program, "v/s3", 1);
  }
  add("a", "v/s0", 100, 0);   // all cores
  add("other", "v/s0", 100);  // no application
  state_server_levels(runs, {"a", "b"}, servers);
  EXPECT_DOUBLE_EQ(servers[0].facts.at(kServerTimeRatio), 0.5);
  EXPECT_DOUBLE_EQ(servers[1].facts.at(kServerTimeRatio), 1);
  EXPECT_DOUBLE_EQ(servers[2].facts.at(kServerTimeRatio), 2);
  EXPECT_DOUBLE_EQ(servers[2].facts.at(kServerDeviation), std::log(2));
  EXPECT_TRUE(servers[3].facts.empty());
}

}  // namespace
}  // namespace perfcast::program
