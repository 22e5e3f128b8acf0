#include "measure/diagnose/observe/node_profile.h"

#include <gtest/gtest.h>

namespace perfcast::measure {
namespace {

// 0.1 s in ten ticks: six in the user's function, two in a module that it calls, one idle, one of node itself.
constexpr const char* kProfile = R"json({"startTime": 1000000, "endTime": 1100000, "nodes": [
  {"id": 1, "callFrame": {"functionName": "(root)", "url": "", "lineNumber": -1}, "children": [2, 5, 6]},
  {"id": 2, "callFrame": {"functionName": "find", "url": "file:///home/a/job.js", "lineNumber": 3}, "hitCount": 6,
   "positionTicks": [{"line": 5, "ticks": 6}], "children": [3]},
  {"id": 3, "callFrame": {"functionName": "each", "url": "file:///home/a/node_modules/b/c.js", "lineNumber": 8},
   "hitCount": 2, "positionTicks": [{"line": 9, "ticks": 2}]},
  {"id": 5, "callFrame": {"functionName": "(idle)", "url": "", "lineNumber": -1}, "hitCount": 1},
  {"id": 6, "callFrame": {"functionName": "run", "url": "node:internal/x", "lineNumber": 1}, "hitCount": 1}]})json";

TEST(NodeProfile, GivesTimeToLinesOfTheUser) {
  const auto lines = read_node_profile(kProfile, "a.cpuprofile");
  ASSERT_TRUE(lines) << to_text(lines.error());
  ASSERT_EQ(lines->size(), 2U);
  EXPECT_EQ((*lines)[0].place(), "job.js:5");
  EXPECT_NEAR((*lines)[0].cpu_s, 0.06, 1e-12);
  EXPECT_EQ((*lines)[1].place(), "job.js:4");
  EXPECT_EQ((*lines)[1].function, "find");
  EXPECT_NEAR((*lines)[1].cpu_s, 0.02, 1e-12);
}

TEST(NodeProfile, SaysWhatIsWrong) {
  EXPECT_FALSE(read_node_profile("{", "a.cpuprofile"));
  EXPECT_FALSE(read_node_profile(R"({"nodes": [{"id": "x"}]})", "a.cpuprofile"));
  // A circle of parents.
  EXPECT_TRUE(read_node_profile(R"({"startTime": 0, "endTime": 1, "nodes": [
    {"id": 1, "callFrame": {"functionName": "", "url": "", "lineNumber": 0}, "hitCount": 1, "children": [1]}]})",
                                "a.cpuprofile"));
}

TEST(NodeProfile, IsAskedForBehindTheProgram) {
  EXPECT_EQ(with_node_profiler({"/usr/bin/node", "a.js"}, "/tmp/f"),
            (std::vector<std::string>{"/usr/bin/node", "--cpu-prof", "--cpu-prof-dir=/tmp/f", "a.js"}));
  EXPECT_TRUE(with_node_profiler({"npm", "test"}, "/tmp/f").empty());
}

}  // namespace
}  // namespace perfcast::measure
