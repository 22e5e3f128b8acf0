#include "ai/load/load_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <set>

#include "ai/load/load_generator.h"
#include "ai/load/testing/scripted_system.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A reader of the field's logs, written from what is known of them: a line of the detail log is ":::MLLOG " and a JSON
// object whose members are all there; the summary has a line "Result is : VALID" or INVALID and "name : value" lines.
struct DetailLog {
  std::map<std::string, Json> values;
  int lines = 0, errors = 0;
};

DetailLog read_detail(const std::string& text) {
  static constexpr std::string_view kPrefix = ":::MLLOG ";
  DetailLog log;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty()) continue;
    EXPECT_THAT(line, StartsWith(std::string(kPrefix)));
    const auto json = parse_json(std::string_view(line).substr(kPrefix.size()), "detail");
    EXPECT_TRUE(json) << line;
    if (!json) continue;
    ++log.lines;
    EXPECT_EQ((*json)["namespace"], "mlperf::logging");
    EXPECT_TRUE((*json)["time_ms"].is_number());
    const std::string event = (*json)["event_type"];
    EXPECT_TRUE(event == "POINT_IN_TIME" || event == "INTERVAL_START" || event == "INTERVAL_END") << event;
    for (const char* const member : {"is_error", "is_warning", "file", "line_no", "pid", "tid"}) {
      EXPECT_TRUE((*json)["metadata"].contains(member)) << member;
    }
    log.errors += (*json)["metadata"]["is_error"].get<bool>() ? 1 : 0;
    log.values[(*json)["key"]] = (*json)["value"];
  }
  return log;
}

std::map<std::string, std::string> read_summary(const std::string& text) {
  std::map<std::string, std::string> values;
  for (const std::string& line : split(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view name = trim(std::string_view(line).substr(0, colon));
    values.emplace(name, trim(std::string_view(line).substr(colon + 1)));
  }
  return values;
}

class Log : public testing::Test {
 protected:
  Log() {
    std::string pattern = testing::TempDir() + "perfcast-log-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~Log() override { std::filesystem::remove_all(folder_); }
  std::string content(const std::string& name) const {
    const auto bytes = read_file(folder_ + "/" + name);
    return bytes ? *bytes : "";
  }

  // A run whose logs lie in the folder.
  LoadVerdict logged(LoadSettings settings, const LoadRules& rules, SystemUnderTest& system) {
    auto log = LoadLog::create(folder_);
    EXPECT_TRUE(log);
    (*log)->settings(settings, rules);
    LoadHooks hooks;
    hooks.record = [&](std::span<const SampleRecord> records) { return (*log)->add(records, settings.mode); };
    const auto result = run_load(settings, system, hooks);
    EXPECT_TRUE(result);
    const LoadSummary summary = summarise(*result);
    LoadVerdict verdict = judge(*result, summary, rules);
    EXPECT_TRUE((*log)->finish(*result, summary, verdict, rules));
    EXPECT_TRUE((*log)->close());
    return verdict;
  }

  std::string folder_;
};

LoadSettings logged_settings(LoadScenario scenario) {
  LoadSettings settings;
  settings.scenario = scenario;
  settings.loaded_samples = settings.total_samples = 64;
  settings.min_duration_s = 0.05;
  settings.min_queries = 100;
  settings.target_qps = 20000;
  return settings;
}

TEST_F(Log, AServersLogsAreReadBack) {
  LoadRules rules;
  rules.max_latency_s = 0.5;
  ScriptedSystem system(answer_all);
  const LoadVerdict verdict = logged(logged_settings(LoadScenario::kServer), rules, system);
  EXPECT_EQ(verdict.valid(), true) << (verdict.valid() ? "" : verdict.violations[0].message);
  const DetailLog detail = read_detail(content("bench_detail.txt"));
  EXPECT_EQ(detail.values.at("requested_scenario"), "Server");
  EXPECT_EQ(detail.values.at("effective_test_mode"), "PerformanceOnly");
  EXPECT_EQ(detail.values.at("effective_qsl_rng_seed"), 2085463073848966840u);
  EXPECT_EQ(detail.values.at("effective_sample_index_rng_seed"), 2747215439041700203u);
  EXPECT_EQ(detail.values.at("effective_schedule_rng_seed"), 16159082839903944936u);
  EXPECT_EQ(detail.values.at("effective_target_latency_ns"), 500000000);
  EXPECT_EQ(detail.values.at("effective_min_duration_ms"), 50);
  EXPECT_EQ(detail.values.at("result_validity"), "VALID");
  for (const char* const key :
       {"result_perf_constraints_met", "result_min_duration_met", "result_min_queries_met", "early_stopping_met"}) {
    EXPECT_EQ(detail.values.at(key), true) << key;
  }
  EXPECT_EQ(detail.values.at("result_query_count"), static_cast<int64_t>(system.issued.size()));
  EXPECT_EQ(detail.values.at("generated_query_count"), static_cast<int64_t>(system.issued.size()));
  EXPECT_EQ(detail.values.at("result_overlatency_query_count"), 0);
  EXPECT_FALSE(detail.values.contains("result_invalid_reason"));
  for (const char* const p : {"50.00", "90.00", "95.00", "97.00", "99.00", "99.90"}) {
    EXPECT_GT(detail.values.at("result_" + std::string(p) + "_percentile_latency_ns"), 0) << p;
  }
  EXPECT_LE(detail.values.at("result_min_latency_ns"), detail.values.at("result_mean_latency_ns"));
  EXPECT_LE(detail.values.at("result_mean_latency_ns"), detail.values.at("result_max_latency_ns"));
  EXPECT_GT(detail.values.at("result_completed_samples_per_sec"), 0.0);
  EXPECT_EQ(detail.errors, 0);
  EXPECT_EQ(detail.values.at("num_errors"), 0);

  const std::string summary_text = content("bench_summary.txt");
  EXPECT_THAT(summary_text, HasSubstr("MLPerf-like; no result of MLPerf"));
  const auto summary = read_summary(summary_text);
  EXPECT_EQ(summary.at("Result is"), "VALID");
  EXPECT_EQ(summary.at("Scenario"), "Server");
  EXPECT_EQ(summary.at("Performance constraints satisfied"), "Yes");
  EXPECT_EQ(summary.at("99.00 percentile latency (ns)"),
            std::to_string(detail.values.at("result_99.00_percentile_latency_ns").get<int64_t>()));
}

TEST_F(Log, WhatIsWrongIsInTheLogs) {
  LoadRules rules;
  rules.max_latency_s = 0.5;
  rules.min_duration_s = 600;
  ScriptedSystem system([](std::span<const IssuedSample> query, ResponseSink& sink) {
    if (query[0].id == 7) return sink.fail(7, "no");
    answer_all(query, sink);
  });
  logged(logged_settings(LoadScenario::kServer), rules, system);
  const DetailLog detail = read_detail(content("bench_detail.txt"));
  EXPECT_EQ(detail.values.at("result_validity"), "INVALID");
  EXPECT_EQ(detail.values.at("result_min_duration_met"), false);
  EXPECT_THAT(detail.values.at("result_invalid_reason").get<std::string>(), HasSubstr("min-duration: it took"));
  EXPECT_EQ(detail.errors, 1);
  EXPECT_EQ(detail.values.at("error_runtime"), "failed-answers: id 7: no");
  EXPECT_EQ(read_summary(content("bench_summary.txt")).at("Result is"), "INVALID");
}

TEST_F(Log, TokensHaveTheirKeys) {
  LoadSettings settings = logged_settings(LoadScenario::kServer);
  settings.tokens = true;
  LoadRules rules;
  rules.max_ttft_s = 2;
  rules.max_tpot_s = 0.2;
  ScriptedSystem system([](std::span<const IssuedSample> query, ResponseSink& sink) {
    sink.token(query[0].id, 1);
    sink.complete(query[0].id, {10, "", 0});
  });
  logged(settings, rules, system);
  const DetailLog detail = read_detail(content("bench_detail.txt"));
  EXPECT_EQ(detail.values.at("effective_use_token_latencies"), true);
  EXPECT_EQ(detail.values.at("effective_server_ttft_latency"), 2000000000);
  EXPECT_GT(detail.values.at("result_first_token_99.00_percentile_latency_ns"), 0);
  EXPECT_TRUE(detail.values.contains("result_time_per_output_token_99.00_percentile_ns"));
  EXPECT_TRUE(detail.values.contains("result_completed_tokens_per_second"));
}

TEST_F(Log, EveryScenarioHasItsOwnResult) {
  const std::pair<LoadScenario, const char*> keys[] = {
      {LoadScenario::kSingleStream, "result_qps_with_loadgen_overhead"},
      {LoadScenario::kSingleStream, "result_qps_without_loadgen_overhead"},
      {LoadScenario::kSingleStream, "early_stopping_latency_ss"},
      {LoadScenario::kMultiStream, "result_99.00_percentile_per_query_latency_ns"},
      {LoadScenario::kOffline, "result_samples_per_second"}};
  for (const auto& [scenario, key] : keys) {
    ScriptedSystem system(answer_all);
    logged(logged_settings(scenario), {}, system);
    EXPECT_TRUE(read_detail(content("bench_detail.txt")).values.contains(key)) << key;
  }
}

TEST_F(Log, EveryAnswerHasALine) {
  ScriptedSystem system(answer_all);
  logged(logged_settings(LoadScenario::kServer), {}, system);
  const std::vector<std::string> lines = split(content("samples.csv"), '\n');
  ASSERT_EQ(lines.size(), system.issued.size() + 2);
  EXPECT_EQ(lines[0], kSamplesHeader);
  std::set<std::string> ids;
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    const auto cells = split(lines[i], ',');
    ASSERT_EQ(cells.size(), 8u);
    ids.insert(cells[0]);
    EXPECT_EQ(cells[4], "");  // no token
    EXPECT_GE(std::stoll(cells[5]), std::stoll(cells[3]));
    EXPECT_EQ(cells[7], "0");
  }
  EXPECT_EQ(ids.size(), system.issued.size());
}

TEST_F(Log, AccuracyKeepsTheAnswers) {
  LoadSettings settings = logged_settings(LoadScenario::kOffline);
  settings.mode = LoadMode::kAccuracy;
  ScriptedSystem system([](std::span<const IssuedSample> query, ResponseSink& sink) {
    for (const IssuedSample& sample : query) sink.complete(sample.id, {3, std::string("\x01\xAB", 2), 0});
  });
  logged(settings, {}, system);
  const auto entries = parse_json(content("bench_accuracy.json"), "accuracy");
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 64u);
  EXPECT_EQ((*entries)[0]["seq_id"], 0);
  EXPECT_EQ((*entries)[0]["data"], "01AB");
  EXPECT_EQ((*entries)[0]["token_count"], 3);
  std::set<int> indices;
  for (const Json& entry : *entries) indices.insert(entry["qsl_idx"].get<int>());
  EXPECT_EQ(indices.size(), 64u);
}

TEST_F(Log, ALimitOfSizeIsKeptAndTold) {
  auto log = LoadLog::create(folder_, 100);
  ASSERT_TRUE(log);
  std::vector<SampleRecord> records(50);
  EXPECT_TRUE((*log)->add(records, LoadMode::kPerformance));
  EXPECT_GT((*log)->left_out(), 30);
  EXPECT_LT(content("samples.csv").size(), 250u);
}

TEST_F(Log, AFolderThatCannotBeIsAnError) {
  ASSERT_TRUE(write_file_atomically(folder_ + "/file", "x").ok());
  const auto log = LoadLog::create(folder_ + "/file/log");
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, "log-failed");
  EXPECT_EQ(log.error().where, "--log");
}

}  // namespace
}  // namespace perfcast::ai
