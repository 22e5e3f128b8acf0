#include "ai/results/load_run.h"

#include <gtest/gtest.h>

#include <string>

namespace perfcast::ai {
namespace {

std::vector<LoadRun> read(const std::string& text) {
  auto runs = read_load_runs(text, "r.json");
  EXPECT_TRUE(runs) << (runs ? "" : runs.error().message);
  return runs ? *std::move(runs) : std::vector<LoadRun>{};
}

std::string code_of(const std::string& text) {
  const auto runs = read_load_runs(text, "r.json");
  return runs ? "" : runs.error().code;
}

TEST(LoadRun, VllmStatesMillisecondsAndTotals) {
  const auto runs = read(R"({"model_id": "m", "num_prompts": 10, "request_rate": "inf", "max_concurrency": 4,
    "duration": 2.0, "completed": 8, "total_input_tokens": 800, "total_output_tokens": 160, "request_throughput": 4.0,
    "output_throughput": 80.0, "mean_ttft_ms": 120, "median_ttft_ms": 100, "p99_ttft_ms": 400, "median_tpot_ms": 29,
    "median_itl_ms": 28, "p95_e2el_ms": 3500, "p50_e2el_ms": 3000})");
  ASSERT_EQ(runs.size(), 1u);
  const LoadRun& run = runs[0];
  EXPECT_EQ(run.tool, LoadTool::kVllm);
  EXPECT_EQ(run.source, "r.json");
  EXPECT_EQ(run.model, "m");
  EXPECT_EQ(run.load, "4 at once");
  EXPECT_EQ(run.answered, 8);
  EXPECT_EQ(run.failed, 2);
  EXPECT_EQ(run.prompt_tokens, 100);
  EXPECT_EQ(run.output_tokens, 20);
  EXPECT_DOUBLE_EQ(*run.ttft.mean_s, 0.12);
  EXPECT_DOUBLE_EQ(*run.ttft.p50_s, 0.1);
  EXPECT_DOUBLE_EQ(*run.ttft.p99_s, 0.4);
  EXPECT_FALSE(run.ttft.p90_s);
  EXPECT_DOUBLE_EQ(*run.tpot.p50_s, 0.029);
  EXPECT_DOUBLE_EQ(*run.gap.p50_s, 0.028);
  EXPECT_DOUBLE_EQ(*run.latency.p50_s, 3);
  EXPECT_DOUBLE_EQ(*run.latency.p95_s, 3.5);
}

TEST(LoadRun, SglangHasALineForEachRunWithPythonsNumbers) {
  const auto runs = read(
      "{\"completed\": 5, \"request_throughput\": 2, \"request_rate\": Infinity, \"mean_e2e_latency_ms\": 50,"
      " \"accept_length\": NaN, \"server_info\": {\"model_path\": \"a NaN \\\" model\"}}\n"
      "{\"completed\": 5, \"request_throughput\": 3, \"request_rate\": 4.5, \"max_concurrency\": 9,"
      " \"mean_e2e_latency_ms\": 60, \"median_ttft_ms\": 0.0}\n");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].tool, LoadTool::kSglang);
  EXPECT_EQ(runs[0].source, "r.json#1");
  EXPECT_EQ(runs[0].load, "all at once");
  EXPECT_EQ(runs[0].model, "a NaN \" model");
  EXPECT_EQ(runs[1].load, "4.5/s, at most 9 at once");
  EXPECT_DOUBLE_EQ(*runs[1].latency.mean_s, 0.06);
  EXPECT_FALSE(runs[1].ttft.p50_s);  // 0 is what tools write of what they didn't measure
}

TEST(LoadRun, GuidellmsInterTokenLatencyIsTheTimePerOutputToken) {
  const auto runs = read(R"({"args": {"model": "m"}, "benchmarks": [
    {"config": {"strategy": {"type_": "concurrent", "streams": 8}}, "duration": 30, "metrics": {
      "request_totals": {"successful": 95, "errored": 5}, "requests_per_second": {"successful": {"mean": 3.2}},
      "request_latency": {"successful": {"mean": 2.5, "median": 2.4, "percentiles": {"p99": 3.5}}},
      "time_per_output_token_ms": {"successful": {"median": 19}},
      "inter_token_latency_ms": {"successful": {"median": 18.5, "percentiles": {"p99": 25}}}}},
    {"args": {"strategy": {"type_": "constant", "rate": 5}},
     "metrics": {"requests_per_second": {"successful": {"mean": 4.8}}}}]})");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].tool, LoadTool::kGuidellm);
  EXPECT_EQ(runs[0].load, "8 at once");
  EXPECT_EQ(runs[0].failed, 5);
  EXPECT_DOUBLE_EQ(*runs[0].latency.p50_s, 2.4);
  EXPECT_DOUBLE_EQ(*runs[0].tpot.p50_s, 0.0185);
  EXPECT_DOUBLE_EQ(*runs[0].tpot.p99_s, 0.025);
  EXPECT_FALSE(runs[0].gap.p50_s);
  EXPECT_EQ(runs[1].load, "5/s");
  EXPECT_EQ(runs[1].model, "m");
}

TEST(LoadRun, AiperfAndItsForerunnerStateUnits) {
  const auto aiperf = read(R"({"request_throughput": {"unit": "requests/sec", "avg": 13},
    "time_to_first_token": {"unit": "ms", "avg": 1589, "p50": 788}, "inter_token_latency": {"unit": "ms", "p50": 51},
    "inter_chunk_latency": {"unit": "ms", "p50": 50}, "request_count": {"unit": "requests", "avg": 200},
    "benchmark_duration": {"unit": "sec", "avg": 15}, "error_request_count": null,
    "input_config": {"endpoint": {"model_names": ["m"]}, "loadgen": {"concurrency": 100}}})");
  ASSERT_EQ(aiperf.size(), 1u);
  EXPECT_EQ(aiperf[0].tool, LoadTool::kAiperf);
  EXPECT_EQ(aiperf[0].model, "m");
  EXPECT_EQ(aiperf[0].load, "100 at once");
  EXPECT_DOUBLE_EQ(*aiperf[0].ttft.p50_s, 0.788);
  EXPECT_DOUBLE_EQ(*aiperf[0].tpot.p50_s, 0.051);
  EXPECT_DOUBLE_EQ(*aiperf[0].gap.p50_s, 0.05);
  EXPECT_DOUBLE_EQ(*aiperf[0].duration_s, 15);
  EXPECT_FALSE(aiperf[0].failed);
  const auto old = read(R"({"request_latency": {"unit": "ns", "avg": 9e8, "p50": 8.8e8},
    "time_to_first_token": {"unit": "weeks", "avg": 3},
    "input_config": {"model": ["tiny"], "perf_analyzer": {"stimulus": {"concurrency": 4}}}})");
  ASSERT_EQ(old.size(), 1u);
  EXPECT_EQ(old[0].tool, LoadTool::kGenaiPerf);
  EXPECT_EQ(old[0].model, "tiny");
  EXPECT_EQ(old[0].load, "4 at once");
  EXPECT_DOUBLE_EQ(*old[0].latency.p50_s, 0.88);
  EXPECT_FALSE(old[0].ttft.mean_s);  // a unit that nobody knows
}

TEST(LoadRun, InferencePerfStatesItsDelayApart) {
  const auto runs = read(R"({"load_summary": {"schedule_delay": {"mean": 28, "median": -0.1}, "requested_rate": 80},
    "successes": {"count": 100, "latency": {"request_latency": {"mean": 11.4}, "time_per_output_token": {"median": 0.026},
      "inter_token_latency": {"median": 0.00014}}, "throughput": {"requests_per_sec": 50}}, "failures": {"count": 2}})");
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].tool, LoadTool::kInferencePerf);
  EXPECT_EQ(runs[0].load, "80/s");
  EXPECT_EQ(runs[0].failed, 2);
  EXPECT_DOUBLE_EQ(*runs[0].duration_s, 2);
  EXPECT_DOUBLE_EQ(*runs[0].lateness.mean_s, 28);
  EXPECT_FALSE(runs[0].lateness.p50_s);  // sent too early
  EXPECT_DOUBLE_EQ(*runs[0].gap.p50_s, 0.00014);
}

TEST(LoadRun, OurOwnOfEachSchema) {
  const std::string run = R"({"schema": "perfcast.bench/1", "scenario": "server", "system": "s",
    "settings": {"target_qps": 5.0}, "answered": 40, "failed": 1, "unanswered": 2, "samples_per_s": 4.9,
    "tokens": 400, "latency_ns": {"p50": 2000000}, "inter_token_ns": {"p50": 1000, "p99": 3000}})";
  for (const std::string& text : {run, R"({"schema": "perfcast.bench.all/1", "runs": [)" + run + "]}",
                                  R"({"schema": "perfcast.bench.sweep/1", "points": [)" + run + "]}"}) {
    const auto runs = read(text);
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].tool, LoadTool::kPerfcast);
    EXPECT_EQ(runs[0].load, "5/s");
    EXPECT_EQ(runs[0].failed, 3);
    EXPECT_EQ(runs[0].output_tokens, 10);
    EXPECT_DOUBLE_EQ(*runs[0].latency.p50_s, 0.002);
    EXPECT_DOUBLE_EQ(*runs[0].gap.p99_s, 3e-6);
  }
}

TEST(LoadRun, PointsOfASweepHaveItsLoads) {
  const std::string points = R"(, "points": [{"scenario": "trace", "samples_per_s": 1, "load": 2},
    {"scenario": "trace", "samples_per_s": 2, "load": 4.5}]})";
  const auto rates = read(R"({"schema": "perfcast.bench.sweep/1", "by": "rate")" + points);
  ASSERT_EQ(rates.size(), 2u);
  EXPECT_EQ(rates[0].load, "2/s");
  EXPECT_EQ(rates[1].load, "4.5/s");
  EXPECT_EQ(read(R"({"schema": "perfcast.bench.sweep/1", "by": "concurrency")" + points)[0].load, "2 at once");
}

TEST(LoadRun, RunsWithoutFiguresAreLeftOut) {
  const std::string none = R"({"completed": 0, "request_throughput": 0})";
  const std::string some = R"({"completed": 1, "request_throughput": 3})";
  std::vector<std::string> notes;
  const auto runs = read_load_runs("[" + none + "," + some + "," + none + "]", "r.json", &notes);
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 1u);
  EXPECT_EQ((*runs)[0].source, "r.json#2");
  EXPECT_EQ((*runs)[0].requests_per_s, 3);
  EXPECT_EQ(notes, (std::vector<std::string>{"r.json: 2 of its 3 runs left out, without a rate or a time"}));
  EXPECT_EQ(code_of("[" + none + "," + none + "]"), "no-figures");
}

// Not-a-number and infinity are what tools write; texts and negative numbers are mistakes.
TEST(LoadRun, FiguresThatAreNoneAreNamed) {
  std::vector<std::string> notes;
  const auto runs = read_load_runs(
      R"([{"completed": 2, "request_throughput": -4.9, "request_rate": "inf", "median_ttft_ms": "oops", "p99_ttft_ms": NaN,
           "mean_tpot_ms": 20},
          {"completed": 2, "request_throughput": -4.9, "mean_tpot_ms": 20}])",
      "r.json", &notes);
  ASSERT_TRUE(runs) << to_text(runs.error());
  EXPECT_FALSE((*runs)[0].requests_per_s || (*runs)[0].ttft.p50_s);
  EXPECT_EQ(notes, (std::vector<std::string>{"r.json: left out what is no number of 0 or more: request_throughput is "
                                             "'-4.9', median_ttft_ms is 'oops'"}));
}

TEST(LoadRun, WhatIsUnknownIsNamed) {
  const auto unknown = read_load_runs(R"({"speed": 1, "colour": "red"})", "r.json");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "unknown-results");
  EXPECT_EQ(unknown.error().message, "not the results of a tool that is known here: its members are speed, colour");
  EXPECT_EQ(code_of("[]"), "unknown-results");
  EXPECT_EQ(code_of("7"), "unknown-results");
  EXPECT_EQ(code_of(R"({"schema": "perfcast.gemm/1"})"), "unknown-results");
  EXPECT_EQ(code_of(R"({"schema": "perfcast.bench.all/1", "runs": 3})"), "unknown-results");
  EXPECT_EQ(code_of(R"({"completed": 0, "request_throughput": 0})"), "no-figures");
  EXPECT_EQ(code_of(R"({"benchmarks": [7]})"), "no-figures");
  EXPECT_EQ(code_of(""), "bad-json");
  EXPECT_EQ(code_of("{\n\"completed\": 1,\n"), "bad-json");
  EXPECT_EQ(code_of("{\"completed\": 1, \"request_throughput\": 1}\n{\"half"), "bad-json");
}

}  // namespace
}  // namespace perfcast::ai
