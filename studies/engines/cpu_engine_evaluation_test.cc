#include "studies/engines/cpu_engine_evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/engine/testing/test_engine.h"
#include "studies/engines/cpu_engine_rows.h"

namespace perfcast::ai::engines_study {
namespace {

struct CpuWorld {
  std::vector<CpuEngineRow> rows;
  std::vector<TokenServer> servers;
};

// Five CPU models of four sizes, each rented twice, with three language models: rows obey the starts of the constants;
// those of the first CPU model take `slower` times as long.
CpuWorld cpu_world(double slower = 1) {
  CpuWorld made;
  for (int cpu = 0; cpu < 5; ++cpu) {
    for (int size = 0; size < 4; ++size) {
      for (const char* twin : {"a", "b"}) {
        TokenServer server;
        server.vendor = "cloud";
        server.name = twin + std::to_string(cpu) + std::to_string(size);
        server.facts = engine_test::cpu();
        server.facts.name = "AMD EPYC 776" + std::to_string(cpu);
        server.facts.model = cpu < 3 ? 1 : 17;  // Zen 3, Zen 4
        server.facts.numa_nodes = 1;
        server.facts.cores = std::pow(4, size);
        server.facts.vcpus = 2 * server.facts.cores;
        server.facts.read_bytes_per_s.front() = (110 + 10 * cpu) * 1e9 * server.facts.cores;
        server.facts.read_bytes_per_s.back() = (20 + 5 * cpu) * 1e9 * std::sqrt(server.facts.cores);
        server.cpu = cpu_model_key(server.facts);
        made.servers.push_back(server);
        for (int model = 0; model < 3; ++model) {
          LlmWork work = engine_test::cpu_work();
          work.name = "model" + std::to_string(model);
          work.weight_bytes *= std::pow(4, model);
          work.prefill_macs_per_token *= std::pow(4, model);
          VllmPoint point;
          point.prompt_tokens = 256 << model;
          point.output_tokens = 128;
          CpuEngineRow row = cpu_engine_row(point, server, work, Precision::kFp16, model == 1);
          const CpuEngineTimes times = cpu_engine_times(cpu_engine_starts(), row.machine, work, row.sorts,
                                                        static_cast<double>(point.prompt_tokens));
          const double factor = cpu == 0 ? slower : 1;
          row.further_s = factor * times.further_s();
          row.first_s = factor * times.first_s();
          row.client_token_s = client_token_s(row.first_s, row.further_s, 128);
          made.rows.push_back(std::move(row));
        }
      }
    }
  }
  return made;
}

const EngineScore* score_of(const std::vector<EngineScore>& scores, const char* split, const char* predictor,
                            EngineTarget target, const std::string& part = "all") {
  for (const EngineScore& score : scores) {
    if (score.split == split && score.predictor == predictor && score.target == target && score.part == part) {
      return &score;
    }
  }
  return nullptr;
}

TEST(CpuEngineEvaluation, OfAWorldThatObeysTheForm) {
  const CpuWorld made = cpu_world();
  const auto evaluation = evaluate_cpu_engine(made.rows, made.servers, 2);
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  for (const char* split : {kCpuOut, kDesignOut}) {
    for (const EngineTarget target : kEngineTargets) {
      const EngineScore* ours = score_of(evaluation->scores, split, kOurs, target);
      ASSERT_NE(ours, nullptr);
      EXPECT_EQ(ours->n, 120);
      EXPECT_LT(ours->median_error, 1e-4) << split;
    }
  }
  const EngineScore* baseline = score_of(evaluation->scores, kCpuOut, kThreeConstants, EngineTarget::kFurtherToken);
  ASSERT_NE(baseline, nullptr);
  EXPECT_GT(baseline->median_error, 0.05);
  const EngineScore* worse = score_of(evaluation->scores, kCpuOut, kBandwidthOrCores, EngineTarget::kFirstToken);
  ASSERT_NE(worse, nullptr);
  EXPECT_GT(worse->median_error, baseline->median_error);
  const EngineScore* floor = score_of(evaluation->scores, kSameServerSize, kFloor, EngineTarget::kFirstToken);
  ASSERT_NE(floor, nullptr);
  EXPECT_EQ(floor->n, 120);
  EXPECT_LT(floor->median_error, 1e-12);  // twins are equal
  EXPECT_EQ(evaluation->profile.cpus.size(), 5U);
  EXPECT_EQ(evaluation->profile.model_names(), (std::vector<std::string>{"model0", "model1", "model2"}));
  EXPECT_EQ(evaluation->profile.rows, 120);
  EXPECT_GT(evaluation->profile.of_kin.further_token, evaluation->profile.measured.further_token);
}

TEST(CpuEngineEvaluation, ACpuOfItsOwnIsMissedByItsFactor) {
  const CpuWorld made = cpu_world(1.5);
  const auto evaluation = evaluate_cpu_engine(made.rows, made.servers, 1);
  ASSERT_TRUE(evaluation);
  const EngineScore* all = score_of(evaluation->scores, kCpuOut, kOurs, EngineTarget::kFurtherToken);
  ASSERT_NE(all, nullptr);
  EXPECT_NEAR(all->coverage, 0.8, 0.05);  // 24 of 120 are of a kind that the others don't show
  const EngineScore* group = score_of(evaluation->groups, kCpuOut, kOurs, EngineTarget::kFirstToken, "zen3");
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->n, 72);
}

TEST(CpuEngineEvaluation, TheBundleSaysWhatItStandsOn) {
  const CpuWorld made = cpu_world(1.1);
  const auto evaluation = evaluate_cpu_engine(made.rows, made.servers, 2);
  ASSERT_TRUE(evaluation);
  EngineBundle bundle;
  bundle.engines = {engine_test::profile()};
  add_cpu_engine(*evaluation, bundle);
  bundle.cpu_engines[0].name = "vllm";
  EXPECT_EQ(bundle.card.scores.size(), 12U);
  EXPECT_LT(bundle.card.cpu_token_error_ratio, 0.1);
  const std::string text = engine_bundle_text(bundle);
  const auto back = parse_engine_bundle(text, "b");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(engine_bundle_text(*back), text);
}

TEST(CpuEngineEvaluation, TooFewCpus) {
  CpuWorld made = cpu_world();
  made.rows.resize(48);
  EXPECT_EQ(evaluate_cpu_engine(made.rows, made.servers, 1).error().code, "too-few-rows");
}

TEST(CpuEngineRows, WhatIsLeftOutIsCounted) {
  const CpuWorld made = cpu_world();
  VllmPoint point;
  point.vendor = "cloud";
  point.server = "a00";
  point.model = "Qwen/Qwen2.5-0.5B-Instruct";
  point.precision = "float16";
  point.prompt_tokens = 256;
  point.output_tokens = 128;
  point.first_s = 10;
  point.further_s = point.client_token_s = 0.1;
  std::vector<VllmPoint> points(5, point);
  points[1].server = "nowhere";
  points[2].model = "nobody/knows";
  points[3].precision = "int8";
  points[4].avx512 = true;
  const CpuEngineRows rows = cpu_engine_rows(points, made.servers);
  ASSERT_EQ(rows.rows.size(), 1U);
  EXPECT_EQ(rows.rows[0].work.name, "qwen2.5-0.5b");
  EXPECT_TRUE(rows.rows[0].sorts);
  EXPECT_EQ(rows.rows[0].machine.threads, 1);
  EXPECT_EQ(rows.notes.size(), 4U);
  EXPECT_EQ(rows.notes[0], "left out: 1 single streams on CPUs, no facts of the server");
}

}  // namespace
}  // namespace perfcast::ai::engines_study
