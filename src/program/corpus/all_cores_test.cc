#include "program/corpus/all_cores.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::program {
namespace {

// Two servers of one CPU model: four applications, of which two are of one family, with one thread and with four.
Corpus small_corpus() {
  Corpus corpus;
  for (const auto& [id, family] : {std::pair{"a", "A"}, {"b", "B"}, {"c", "C"}, {"c2", "C"}}) {
    Program program;
    program.id = id;
    program.family = family;
    program.group = "application";
    corpus.programs.push_back(program);
  }
  for (const char* name : {"s", "t"}) {
    Server server;
    server.vendor = "v";
    server.name = name;
    server.platform = "p";
    server.vcpus = 4;
    corpus.servers.push_back(server);
  }
  return corpus;
}

void add(Corpus& corpus, const std::string& program, const std::string& server, double alone_s, double slowdown) {
  struct Run run;
  run.program = program;
  run.platform = "p";
  run.server = server;
  run.time_s = alone_s;
  corpus.runs.push_back(run);
  // The program's own time on the other server is what its CPU model usually takes.
  corpus.machine_runs.push_back({program, "p", server, 4, slowdown, "source"});
}

TEST(AllCores, IsTheMeanOverFamiliesOfTimesOverThoseOfOneThread) {
  Corpus corpus = small_corpus();
  for (const auto& [program, slowdown] : {std::pair{"a", 2.0}, {"b", 4.0}, {"c", 1.0}, {"c2", 4.0}}) {
    add(corpus, program, "v/s", 1, slowdown);
    add(corpus, program, "v/t", 1, 1);
  }
  const std::vector<AllCoresRun> runs = all_cores_runs(corpus);
  ASSERT_EQ(runs.size(), 8);
  EXPECT_DOUBLE_EQ(runs[0].log_slowdown, std::log(2));
  state_all_cores(runs, corpus.servers);
  // Families: 2, 4, and 2 of the two of C.
  EXPECT_NEAR(corpus.servers[0].facts.at(kAllCoresSlowdown), std::cbrt(16), 1e-12);
  EXPECT_EQ(corpus.servers[0].facts.at(kAllCoresFamilies), 3);
  EXPECT_NEAR(corpus.servers[0].facts.at(kAllCoresDeviation), std::log(2) / std::sqrt(3), 1e-12);
  const auto level = all_cores_level_of(corpus.servers[0]);
  ASSERT_TRUE(level);
  // t(.95, 2) = 2.9200
  EXPECT_NEAR(all_cores_half_width(*level), 2.9200 * std::log(2) / std::sqrt(3) * std::sqrt(4.0 / 3), 1e-4);
  EXPECT_NEAR(all_cores_level(all_cores_families(runs).at("v/s\tp"), "B").log_slowdown, std::log(2), 1e-12);
}

TEST(AllCores, OneThreadsTimeIsThatOfTheOtherServers) {
  Corpus corpus = small_corpus();
  add(corpus, "a", "v/s", 1, 6);
  add(corpus, "a", "v/t", 3, 6);
  const std::vector<AllCoresRun> runs = all_cores_runs(corpus);
  EXPECT_DOUBLE_EQ(runs[0].log_alone, std::log(3));
  EXPECT_DOUBLE_EQ(runs[0].log_slowdown, std::log(2));
  EXPECT_DOUBLE_EQ(runs[1].log_slowdown, std::log(6));
}

TEST(AllCores, TooFewFamiliesOrNoApplicationKeepNothing) {
  Corpus corpus = small_corpus();
  corpus.programs[1].group = "user";
  corpus.servers[0].facts[kAllCoresSlowdown] = 7;  // of another time
  for (const char* program : {"a", "b", "c"}) add(corpus, program, "v/s", 1, 2);
  state_all_cores(all_cores_runs(corpus), corpus.servers);
  EXPECT_TRUE(corpus.servers[0].facts.empty());
  EXPECT_FALSE(all_cores_level_of(corpus.servers[0]));
}

}  // namespace
}  // namespace perfcast::program
