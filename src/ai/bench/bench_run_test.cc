#include "ai/bench/bench_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "ai/load/testing/scripted_system.h"
#include "base/file.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;

class BenchOf : public testing::Test {
 protected:
  BenchOf() {
    std::string pattern = testing::TempDir() + "perfcast-bench-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    request_.settings.loaded_samples = request_.settings.total_samples = 32;
    request_.settings.min_duration_s = 0.02;
    request_.settings.min_queries = 100;
    request_.settings.answer_limit_s = 0.3;
    request_.rules.percentile = 0.9;
  }
  ~BenchOf() override { std::filesystem::remove_all(folder_); }
  std::string content(const std::string& name) const {
    const auto bytes = read_file(folder_ + "/" + name);
    return bytes ? *bytes : "";
  }

  std::string folder_;
  BenchRequest request_;
};

TEST_F(BenchOf, AValidRunSaysSoAndIsOnDisk) {
  request_.log_folder = folder_;
  request_.warm_up_queries = 5;
  request_.objectives = {*parse_load_objective("latency=10s", "")};
  ScriptedSystem system(answer_all);
  const auto report = run_bench(request_, system);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->verdict.valid());
  EXPECT_EQ(static_cast<int64_t>(system.issued.size()), report->result.samples + 5);
  EXPECT_FALSE(report->energy);
  EXPECT_EQ(report->not_comparable.size(), 2u);  // no benchmark, too short
  const auto json = parse_json(content("result.json"), "result");
  ASSERT_TRUE(json);
  EXPECT_EQ(*json, to_json(*report));
  EXPECT_EQ((*json)["schema"], "perfcast.bench/1");
  EXPECT_EQ((*json)["scenario"], "single-stream");
  EXPECT_EQ((*json)["valid"], true);
  EXPECT_TRUE((*json)["violations"].empty());
  EXPECT_EQ((*json)["queries"], report->result.queries);
  for (const char* const p : {"p50", "p90", "p95", "p99", "p999"}) EXPECT_TRUE((*json)["latency_ns"].contains(p)) << p;
  EXPECT_FALSE(json->contains("energy_joules"));
  EXPECT_FALSE(json->contains("ttft_ns"));
  EXPECT_EQ((*json)["objectives"][0]["met"], true);
  EXPECT_THAT(content("bench_summary.txt"), HasSubstr("Result is : VALID"));
  EXPECT_THAT(content("bench_detail.txt"), HasSubstr("power_begin"));
}

// A valid run of a benchmark whose rules its own options are looser than, speed or answers alone.
TEST_F(BenchOf, WhatIsLooserThanTheFieldIsInTheReport) {
  request_.benchmark = "resnet50";
  request_.division = "closed";
  request_.not_comparable = {"latency limit 20 ms, the field's is 15 ms"};
  ScriptedSystem system(answer_all);
  const auto fast = run_bench(request_, system);
  ASSERT_TRUE(fast);
  EXPECT_TRUE(fast->verdict.valid());
  EXPECT_EQ(fast->not_comparable.back(), request_.not_comparable.front());
  EXPECT_EQ(to_json(*fast)["comparable"], false);
  request_.accuracy = true;
  request_.performance = false;
  const auto right = run_bench(request_, system);
  ASSERT_TRUE(right);
  EXPECT_EQ(right->not_comparable.back(), request_.not_comparable.front());
}

TEST_F(BenchOf, AccuracyComesFirstAndIsAsked) {
  request_.accuracy = true;
  request_.rules.least_accuracy = 0.9;
  request_.judge = [](uint32_t index, std::string_view) { return std::optional<bool>(index % 2 == 0); };
  ScriptedSystem system(answer_all);
  const auto report = run_bench(request_, system);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->judged, 32);
  EXPECT_EQ(report->right, 16);
  EXPECT_EQ(report->rules.accuracy, 0.5);
  EXPECT_TRUE(report->verdict.breaks("accuracy"));
  EXPECT_EQ(report->result.settings.mode, LoadMode::kPerformance);
  request_.performance = false;
  request_.judge = {};
  const auto alone = run_bench(request_, system);
  ASSERT_TRUE(alone);
  EXPECT_TRUE(alone->verdict.breaks("accuracy-unknown"));
}

TEST_F(BenchOf, AnswersThatWereJudgedAreKeptWhereTheSystemStartsNoMore) {
  request_.accuracy = true;
  ScriptedSystem system(answer_all);
  request_.judge = [&](uint32_t, std::string_view) {
    system.refuses = Error{"system-broke", "it won't", "", ""};
    return std::optional<bool>(true);
  };
  const auto report = run_bench(request_, system);
  ASSERT_TRUE(report) << to_text(report.error());
  EXPECT_EQ(report->judged, 32);
  EXPECT_EQ(report->rules.accuracy, 1);
  EXPECT_TRUE(report->verdict.breaks("system-broke"));
}

TEST_F(BenchOf, AJudgeThatFailedIsNamed) {
  class WithoutJudge final : public ScriptedSystem {
   public:
    WithoutJudge() : ScriptedSystem(answer_all) {}
    std::optional<Error> judging_error() const override { return Error{"out-of-memory", "no room", "", ""}; }
  };
  request_.accuracy = true;
  request_.rules.least_accuracy = 0.5;
  WithoutJudge system;
  const auto report = run_bench(request_, system);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->verdict.breaks("judge-failed"));
  EXPECT_TRUE(report->verdict.breaks("accuracy-unknown"));
}

// A search whose trials are too short for their percentile as they are asked for: 8 queries, of the 44 that p90 takes.
TEST_F(BenchOf, TrialsHaveTheQueriesThatTheirPercentileTakes) {
  request_.settings.scenario = LoadScenario::kServer;
  request_.settings.target_qps = 400;
  request_.settings.min_queries = 1;
  request_.rules.max_latency_s = 1;
  request_.find_peak = true;
  request_.most_trials = 2;
  ScriptedSystem system(answer_all);
  const auto report = run_bench(request_, system);
  ASSERT_TRUE(report);
  ASSERT_TRUE(report->peak_qps);
  EXPECT_EQ(*report->peak_qps, 800);
  EXPECT_GE(report->trials[0].queries, 44);
  EXPECT_FALSE(report->search_is_too_short);
}

TEST_F(BenchOf, ASearchThatCannotBeSureEndsAtOnce) {
  request_.settings.scenario = LoadScenario::kServer;
  request_.settings.target_qps = 400;
  request_.settings.min_queries = 1;
  request_.settings.max_duration_s = 0.03;
  request_.rules.max_latency_s = 1;
  request_.find_peak = true;
  ScriptedSystem system(answer_all);
  const auto report = run_bench(request_, system);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->trials.size(), 1u);
  EXPECT_FALSE(report->peak_qps);
  EXPECT_TRUE(report->search_is_too_short);
  EXPECT_TRUE(report->verdict.breaks("early-stopping"));
  EXPECT_FALSE(report->verdict.violations[0].mend.empty());
  EXPECT_EQ(to_json(*report)["peak"]["too_short"], true);
}

TEST_F(BenchOf, AQualityOfAPartIsNone) {
  request_.accuracy = true;
  request_.performance = false;
  request_.judge = [](uint32_t index, std::string_view) {
    return index < 30 ? std::optional<bool>(true) : std::nullopt;
  };
  ScriptedSystem system(answer_all);
  const auto report = run_bench(request_, system);
  ASSERT_TRUE(report);
  ASSERT_TRUE(report->verdict.breaks("partly-judged"));
  EXPECT_THAT(report->verdict.violations[0].message, HasSubstr("2 of 32 answers"));
}

TEST_F(BenchOf, PercentAreOfAHundred) {
  request_.accuracy = true;
  request_.rules.accuracy_metric = "top-1 accuracy in %";
  request_.judge = [](uint32_t, std::string_view) { return std::optional<bool>(true); };
  ScriptedSystem system(answer_all);
  EXPECT_EQ(run_bench(request_, system)->rules.accuracy, 100);
}

TEST_F(BenchOf, ABrokenWarmUpIsAnError) {
  request_.warm_up_queries = 3;
  ScriptedSystem system(
      [](std::span<const IssuedSample> query, ResponseSink& sink) { sink.fail(query[0].id, "no model"); });
  const auto report = run_bench(request_, system);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("no model"));
}

TEST_F(BenchOf, AWarmUpWithoutAnAnswerTellsWhatCameInItsPlace) {
  request_.warm_up_queries = 1;
  ScriptedSystem system([](std::span<const IssuedSample>, ResponseSink& sink) {
    sink.nonsense("not JSON: {\"id\": 0, \"data\": \"?");
    sink.complete(12345, {});
  });
  const auto report = run_bench(request_, system);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "system-hung");
  EXPECT_THAT(report.error().message, HasSubstr("bad-answers: not JSON"));
  EXPECT_THAT(report.error().message, HasSubstr("unknown-ids: an answer to id 12345"));
}

TEST_F(BenchOf, WhatWasMeasuredBeforeAHangIsOnDisk) {
  request_.log_folder = folder_;
  ScriptedSystem system([](std::span<const IssuedSample> query, ResponseSink& sink) {
    if (query[0].id < 7) answer_all(query, sink);
  });
  const auto report = run_bench(request_, system);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->verdict.breaks("system-hung"));
  const std::string samples = content("samples.csv");
  EXPECT_EQ(std::count(samples.begin(), samples.end(), '\n'), 8);
  EXPECT_THAT(content("bench_summary.txt"), HasSubstr("Result is : INVALID"));
}

TEST_F(BenchOf, ThePeakIsTheHighestValidRate) {
  // A system of one worker that takes 2 ms: 500/s at the most.
  request_.settings.scenario = LoadScenario::kServer;
  request_.settings.target_qps = 50;
  request_.settings.min_duration_s = 0.1;
  request_.settings.min_queries = 20;
  request_.rules.max_latency_s = 0.1;
  request_.rules.percentile = 0.9;
  request_.rules.early_stopping = false;
  request_.find_peak = true;
  request_.peak_precision = 0.2;
  ScriptedSystem system([](std::span<const IssuedSample> query, ResponseSink& sink) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    answer_all(query, sink);
  });
  const auto report = run_bench(request_, system);
  ASSERT_TRUE(report);
  ASSERT_TRUE(report->peak_qps);
  ASSERT_TRUE(report->peak_bound_qps);
  EXPECT_LT(*report->peak_qps, *report->peak_bound_qps);
  EXPECT_EQ(report->result.settings.target_qps, *report->peak_qps);
  EXPECT_TRUE(report->verdict.valid());
  EXPECT_GE(report->trials.size(), 3u);
  EXPECT_EQ(to_json(*report)["peak"]["trials"].size(), report->trials.size());
}

TEST_F(BenchOf, AnInterruptedTrialIsNoInvalidRate) {
  request_.settings.scenario = LoadScenario::kServer;
  request_.settings.target_qps = 200;
  request_.settings.min_duration_s = 0.1;
  request_.settings.min_queries = 1;
  request_.rules.max_latency_s = 10;
  request_.rules.early_stopping = false;
  request_.find_peak = true;
  std::atomic<int> trials = 0;
  request_.progress = [&](const std::string& what, const LoadProgress& progress) {
    if (progress.issued == 0 && what.starts_with("at ")) ++trials;
  };
  request_.is_interrupted = [&] { return trials >= 2; };
  ScriptedSystem system(answer_all);
  const auto report = run_bench(request_, system);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->trials.size(), 2u);
  EXPECT_TRUE(report->search_is_interrupted);
  EXPECT_EQ(report->peak_qps, 200);
  EXPECT_FALSE(report->peak_bound_qps);
  EXPECT_TRUE(report->verdict.breaks("interrupted"));
  const Json peak = to_json(*report)["peak"];
  EXPECT_EQ(peak["interrupted"], true);
  EXPECT_EQ(peak["highest_valid_qps"], 200);
  EXPECT_FALSE(peak.contains("lowest_invalid_qps"));
}

TEST_F(BenchOf, TokensThatNobodySawAreNotComparable) {
  request_.settings.tokens = true;
  ScriptedSystem system([](std::span<const IssuedSample> query, ResponseSink& sink) {
    sink.token(query[0].id);
    sink.token(query[0].id);
    sink.complete(query[0].id, {9, "", 0, true});
  });
  const auto report = run_bench(request_, system);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->verdict.valid());
  EXPECT_THAT(report->not_comparable, testing::Contains(HasSubstr("tokens were not seen as they came")));
}

TEST_F(BenchOf, NoMeterIsSaidNotGuessed) {
  MeterSet meters;
  meters.missing.push_back({"rapl", "no counters here", "a machine with them"});
  request_.meters = &meters;
  ScriptedSystem system(answer_all);
  const auto report = run_bench(request_, system);
  ASSERT_TRUE(report);
  ASSERT_TRUE(report->energy);
  EXPECT_FALSE(report->energy->joules);
  const Json json = to_json(*report);
  EXPECT_FALSE(json.contains("energy_joules"));
  EXPECT_EQ(json["energy"]["missing"][0]["reason"], "no counters here");
}

}  // namespace
}  // namespace perfcast::ai
