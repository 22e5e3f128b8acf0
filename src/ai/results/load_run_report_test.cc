#include "ai/results/load_run_report.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace perfcast::ai {
namespace {

LoadRun run_of(LoadTool tool, const std::string& source, double p50_s) {
  LoadRun run;
  run.tool = tool;
  run.source = source;
  run.load = "8 at once";
  run.requests_per_s = 4;
  run.ttft.p50_s = p50_s;
  return run;
}

TEST(LoadRunReport, RowsAndTheDefinitionsOfTheirTools) {
  LoadRunsReport report;
  report.runs = {run_of(LoadTool::kVllm, "a/v.json", 0.1), run_of(LoadTool::kGuidellm, "a/g.json#1", 0.2),
                 run_of(LoadTool::kVllm, "w.json", 0.3)};
  report.unread = {{"x.json", "no JSON object"}};
  const Json json = load_runs_json(report);
  EXPECT_EQ(json["schema"], "perfcast.bench.runs/1");
  ASSERT_EQ(json["rows"].size(), 3u);
  EXPECT_EQ(json["rows"][1]["source"], "a/g.json#1");
  EXPECT_EQ(json["rows"][1]["ttft_s"]["p50"], 0.2);
  EXPECT_FALSE(json["rows"][1].contains("tpot_s"));
  ASSERT_EQ(json["definitions"].size(), 2u);  // each tool once
  EXPECT_EQ(json["definitions"][1]["tool"], "guidellm");
  EXPECT_EQ(json["unread"][0]["file"], "x.json");
  const std::string text = load_runs_text(report);
  EXPECT_NE(text.find("g.json#1"), std::string::npos);
  EXPECT_NE(text.find("inter_token_latency_ms:"), std::string::npos);
  EXPECT_NE(text.find("not read: x.json: no JSON object"), std::string::npos);
}

}  // namespace
}  // namespace perfcast::ai
