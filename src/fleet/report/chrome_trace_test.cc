#include "fleet/report/chrome_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/random.h"
#include "fleet/testing/small_schedule.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

Json trace_of(const Cluster& cluster, const Workload& workload, const Outcome& outcome) {
  std::string text;
  write_chrome_trace(cluster, workload, outcome, [&](std::string_view piece) { text += piece; });
  auto json = parse_json(text, "trace.json");
  if (!json) throw std::runtime_error(to_text(json.error()));
  return std::move(*json);
}

std::vector<Json> events_of(const Json& trace, const std::string& phase) {
  std::vector<Json> events;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) events.push_back(event);
  }
  return events;
}

// Two events of one lane at the same time, or nothing.
std::string overlap(const Json& trace) {
  std::map<std::pair<int64_t, int64_t>, std::vector<std::pair<int64_t, int64_t>>> lanes;
  for (const Json& event : events_of(trace, "X")) {
    const auto start = event["ts"].get<int64_t>();
    if (event["dur"].get<int64_t>() < 0) return "a negative duration";
    lanes[{event["pid"], event["tid"]}].emplace_back(start, start + event["dur"].get<int64_t>());
  }
  for (auto& [lane, spans] : lanes) {
    std::ranges::sort(spans);
    for (size_t i = 1; i < spans.size(); ++i) {
      if (spans[i].first < spans[i - 1].second) return "thread " + std::to_string(lane.second);
    }
  }
  return "";
}

TEST(ChromeTrace, SmallScheduleByHand) {
  const Json trace = trace_of(small_cluster(), small_workload(), small_outcome());
  EXPECT_EQ(trace["otherData"]["policy"], "fcfs");
  const std::vector<Json> jobs = events_of(trace, "X");
  ASSERT_THAT(jobs, SizeIs(3));
  EXPECT_EQ(jobs[1]["name"], "gzip");
  EXPECT_EQ(jobs[1]["ts"], 20000000);
  EXPECT_EQ(jobs[1]["dur"], 40000000);
  EXPECT_EQ(jobs[1]["args"]["job"], 12);
  EXPECT_EQ(jobs[1]["args"]["owner"], "ada");
  EXPECT_EQ(jobs[1]["args"]["wait_s"], 10);
  EXPECT_EQ(jobs[1]["args"]["state"], "killed");
  EXPECT_EQ(jobs[0]["pid"], jobs[1]["pid"]);
  EXPECT_NE(jobs[0]["tid"], jobs[1]["tid"]);  // two nodes
  EXPECT_NE(jobs[0]["pid"], jobs[2]["pid"]);
  std::vector<std::string> names;
  for (const Json& event : events_of(trace, "M")) {
    if (event["args"].contains("name")) names.push_back(event["args"]["name"]);
  }
  EXPECT_THAT(names, ElementsAre("waiting jobs", "slow", "fast", "node 0", "node 1", "node 0"));
  std::vector<std::pair<int64_t, int64_t>> waiting, cores;
  for (const Json& event : events_of(trace, "C")) {
    if (event["args"].contains("waiting")) {
      waiting.emplace_back(event["ts"].get<int64_t>() / 1000000, event["args"]["waiting"]);
    } else if (event["pid"] == jobs[0]["pid"]) {
      cores.emplace_back(event["ts"].get<int64_t>() / 1000000, event["args"]["cores in use"]);
    }
  }
  // 12 waits 10 .. 20, 14 from 30 until it gives up at 90.
  EXPECT_THAT(waiting, ElementsAre(std::pair(10, 1), std::pair(20, 0), std::pair(30, 1), std::pair(90, 0)));
  EXPECT_THAT(cores, ElementsAre(std::pair(0, 4), std::pair(20, 6), std::pair(60, 4), std::pair(100, 0)));
}

TEST(ChromeTrace, TextFromOutsideStaysText) {
  Workload workload = small_workload();
  workload.programs[0] = "a\"b\\c\n\xff";
  Cluster cluster = small_cluster();
  cluster.groups[0].platform = workload.platforms[1] = "p\"0";
  const Json trace = trace_of(cluster, workload, small_outcome());
  EXPECT_EQ(events_of(trace, "X")[0]["name"], "a\"b\\c\n\uFFFD");
}

TEST(ChromeTrace, WithoutANodeLanesAreTheGroups) {
  Outcome outcome = small_outcome();
  outcome.segments.clear();
  outcome.jobs[2].end_s = kUnknown;  // never ended: left out
  const Json trace = trace_of(small_cluster(), small_workload(), outcome);
  const std::vector<Json> jobs = events_of(trace, "X");
  ASSERT_THAT(jobs, SizeIs(2));
  EXPECT_NE(jobs[0]["tid"], jobs[1]["tid"]);
  EXPECT_EQ(overlap(trace), "");
  EXPECT_TRUE(trace_of({}, {}, {})["traceEvents"].is_array());
}

// A hundred thousand segments on a hundred nodes: valid JSON, no lane with two jobs at a time, no more lanes on a node
// than jobs that run there at a time.
TEST(ChromeTrace, HoldsAHundredThousandSegments) {
  Random random(7);
  Cluster cluster = small_cluster();
  cluster.groups[0].nodes = 100;
  Workload workload = small_workload();
  workload.jobs.clear();
  Outcome outcome;
  const size_t n = 100000;
  double now = 0;
  for (size_t i = 0; i < n; ++i) {
    now += random.uniform();
    const double run = 100 * random.uniform() * random.uniform();
    JobRequest request;
    request.id = static_cast<int64_t>(i);
    request.arrival_s = now;
    workload.jobs.push_back(request);
    outcome.jobs.push_back({now, now + run, now, run, 0, JobState::kDone});
    outcome.segments.push_back({static_cast<int32_t>(i), 0, now, now + run, static_cast<uint32_t>(i), 1});
    outcome.parts.push_back({static_cast<int32_t>(random.below(100)), 1, 0});
  }
  size_t most = 0, pieces = 0;
  std::string text;
  write_chrome_trace(cluster, workload, outcome, [&](std::string_view piece) {
    most = std::max(most, piece.size());
    ++pieces;
    text += piece;
  });
  EXPECT_LT(most, 1u << 17);
  EXPECT_GT(pieces, 100u);
  const auto json = parse_json(text, "trace.json");
  ASSERT_TRUE(json);
  EXPECT_THAT(events_of(*json, "X"), SizeIs(n));
  EXPECT_EQ(overlap(*json), "");
  // The most that run on any node at a time, counted another way.
  std::vector<std::map<int64_t, int>> steps(100);
  for (const Segment& segment : outcome.segments) {
    auto& node = steps[static_cast<size_t>(outcome.parts[segment.first_part].node)];
    ++node[std::llround(segment.start_s * 1e6)];
    --node[std::llround(segment.end_s * 1e6)];
  }
  size_t lanes = 0;
  for (const auto& node : steps) {
    int level = 0, highest = 0;
    for (const auto& [time, change] : node) highest = std::max(highest, level += change);
    lanes += static_cast<size_t>(highest);
  }
  size_t threads = 0;
  for (const Json& event : events_of(*json, "M")) threads += event["name"] == "thread_name" ? 1 : 0;
  EXPECT_EQ(threads, lanes);
}

}  // namespace
}  // namespace perfcast::fleet
