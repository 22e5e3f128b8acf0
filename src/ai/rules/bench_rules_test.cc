#include "ai/rules/bench_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ai/audit/known_models.h"
#include "base/file.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;

class Rules : public testing::Test {
 protected:
  Rules() : rules_(read_bench_rules(PERFCAST_SOURCE_DIR "/data/bench/rules.json")) {}
  void SetUp() override { ASSERT_TRUE(rules_) << rules_.error().message; }
  LoadRules of(const std::string& benchmark, LoadScenario scenario, bool high = false) const {
    const auto load = load_rules_for(*rules_, {benchmark, "", BenchDivision::kClosed, high}, scenario);
    EXPECT_TRUE(load);
    return load ? *load : LoadRules();
  }
  Result<BenchRules> rules_;
};

TEST_F(Rules, TheShippedTablesAreWhole) {
  EXPECT_EQ(rules_->training.size(), 16u);   // the slides' table
  EXPECT_EQ(rules_->inference.size(), 22u);  // the slides' 15, three of the settings alone, four of tiny
  EXPECT_EQ(rules_->categories.size(), 4u);
  for (const InferenceRule& rule : rules_->inference) EXPECT_FALSE(rule.sources.empty()) << rule.name;
  for (const TrainingRule& rule : rules_->training) {
    EXPECT_TRUE(rule.target) << rule.name;
    EXPECT_FALSE(rule.metric.empty()) << rule.name;
  }
}

// The audit's models state the same qualities, as shares; each from its own document.
TEST_F(Rules, QualitiesAreThoseThatClaimsAreHeldTo) {
  const auto models = read_known_models(PERFCAST_SOURCE_DIR "/data/audit/models.json");
  ASSERT_TRUE(models);
  int compared = 0;
  for (const InferenceRule& rule : rules_->inference) {
    const KnownModel* const model = find_known_model(*models, rule.name);
    if (model == nullptr || !rule.reference || std::isnan(model->accuracy_ratio)) continue;
    const double ratio = *rule.reference > 1 ? *rule.reference / 100 : *rule.reference;
    EXPECT_NEAR(ratio, model->accuracy_ratio, 1e-5) << rule.name;
    ++compared;
  }
  EXPECT_GE(compared, 7);
}

TEST_F(Rules, LimitsAreThePublishedOnes) {
  EXPECT_EQ(of("resnet50", LoadScenario::kServer).max_latency_s, 0.015);
  EXPECT_EQ(of("RetinaNet", LoadScenario::kServer).max_latency_s, 0.1);
  EXPECT_EQ(of("bert-99", LoadScenario::kServer).max_latency_s, 0.13);
  EXPECT_EQ(of("dlrm-v2", LoadScenario::kServer).max_latency_s, 0.06);
  EXPECT_EQ(of("gptj", LoadScenario::kServer).max_latency_s, 20);
  EXPECT_EQ(of("sdxl", LoadScenario::kServer).max_latency_s, 20);
  const LoadRules llama = of("llama2-70b", LoadScenario::kServer);
  EXPECT_EQ(llama.max_ttft_s, 2);
  EXPECT_EQ(llama.max_tpot_s, 0.2);
  EXPECT_FALSE(llama.max_latency_s);
  EXPECT_EQ(of("llama2-70b-interactive", LoadScenario::kServer).max_ttft_s, 0.45);
  EXPECT_EQ(of("llama2-70b-interactive", LoadScenario::kServer).max_tpot_s, 0.04);
  EXPECT_EQ(of("llama3.1-405b", LoadScenario::kServer).max_ttft_s, 6);
  EXPECT_EQ(of("llama3.1-405b", LoadScenario::kServer).max_tpot_s, 0.175);
  EXPECT_EQ(of("llama3.1-8b", LoadScenario::kServer).max_tpot_s, 0.1);
  EXPECT_FALSE(of("resnet50", LoadScenario::kSingleStream).max_latency_s);
}

TEST_F(Rules, ScenariosHaveTheirCounts) {
  EXPECT_EQ(of("resnet50", LoadScenario::kMultiStream).min_queries, 662);
  EXPECT_EQ(of("resnet50", LoadScenario::kOffline).min_queries, 24576);
  EXPECT_EQ(of("bert", LoadScenario::kOffline).min_queries, 10833);
  EXPECT_EQ(of("resnet50", LoadScenario::kSingleStream).percentile, 0.9);
  EXPECT_EQ(of("resnet50", LoadScenario::kServer).min_duration_s, 600);
  EXPECT_EQ(of("resnet50", LoadScenario::kServer).seeds, LoadSeeds{});
}

TEST_F(Rules, QualityIsAShareOfTheReference) {
  EXPECT_DOUBLE_EQ(of("resnet50", LoadScenario::kOffline).least_accuracy.value(), 0.99 * 76.46);
  EXPECT_DOUBLE_EQ(of("bert", LoadScenario::kOffline, true).least_accuracy.value(), 0.999 * 90.874);
  const auto open = load_rules_for(*rules_, {"resnet50", "edge", BenchDivision::kOpen, false}, LoadScenario::kOffline);
  ASSERT_TRUE(open);
  EXPECT_FALSE(open->least_accuracy);
}

TEST_F(Rules, WhatIsNotThereIsRefusedWithWhatIs) {
  const auto refused = [&](const BenchmarkChoice& choice, LoadScenario scenario) {
    const auto load = load_rules_for(*rules_, choice, scenario);
    return load ? Error() : load.error();
  };
  EXPECT_THAT(refused({"resnet51", "", BenchDivision::kClosed, false}, LoadScenario::kServer).expected,
              HasSubstr("resnet50"));
  EXPECT_EQ(refused({"", "cloud", BenchDivision::kClosed, false}, LoadScenario::kServer).where, "--category");
  EXPECT_THAT(refused({"", "edge", BenchDivision::kClosed, false}, LoadScenario::kServer).message,
              HasSubstr("no scenario server"));
  const Error elsewhere = refused({"llama2-70b", "edge", BenchDivision::kClosed, false}, LoadScenario::kOffline);
  EXPECT_EQ(elsewhere.where, "--category");
  EXPECT_EQ(elsewhere.expected, "one of its: datacenter");
  EXPECT_EQ(refused({"resnet50", "tiny", BenchDivision::kOpen, false}, LoadScenario::kSingleStream).expected,
            "one of its: datacenter, edge");
  EXPECT_THAT(refused({"3d-unet", "", BenchDivision::kClosed, false}, LoadScenario::kServer).message,
              HasSubstr("no latency limit"));
}

TEST_F(Rules, CategoriesHaveTheScenariosOfTheirSources) {
  const auto error_of = [&](const BenchmarkChoice& choice, LoadScenario scenario) {
    const auto load = load_rules_for(*rules_, choice, scenario);
    return load ? Error() : load.error();
  };
  // All of tiny is single stream.
  for (const LoadScenario scenario : {LoadScenario::kOffline, LoadScenario::kMultiStream, LoadScenario::kServer}) {
    EXPECT_EQ(error_of({"tiny-keyword-spotting", "tiny", BenchDivision::kClosed, false}, scenario).expected,
              "one of: single-stream");
  }
  EXPECT_TRUE(load_rules_for(*rules_, {"tiny-keyword-spotting", "tiny", BenchDivision::kClosed, false},
                             LoadScenario::kSingleStream));
  // Of mobile no source names a benchmark with its quality.
  const Error mobile = error_of({"mobilenet-v1", "mobile", BenchDivision::kClosed, false}, LoadScenario::kOffline);
  EXPECT_THAT(mobile.message, HasSubstr("no benchmark of the category mobile is known here"));
  EXPECT_THAT(mobile.expected, HasSubstr("for mobilenet-v1 one of: datacenter, edge"));
  EXPECT_TRUE(load_rules_for(*rules_, {"", "mobile", BenchDivision::kClosed, false}, LoadScenario::kOffline));
}

TEST(BenchRulesReader, NamesWhatIsWrong) {
  const auto small = read_file(PERFCAST_SOURCE_DIR "/src/ai/rules/fuzz/bench_rules/small.json");
  ASSERT_TRUE(small);
  EXPECT_TRUE(parse_bench_rules(*small, "r"));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = *small;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const auto rules = parse_bench_rules(text, "r");
    return rules ? std::string() : rules.error().code;
  };
  EXPECT_EQ(changed("bench-rules/1", "bench-rules/2"), "bad-json-field");
  EXPECT_EQ(changed("\"eins\"", "\"One\", \"o-ne\""), "");
  EXPECT_EQ(changed("\"sources\": [\"a\"]", "\"sources\": [\"b\"]"), "bad-rules");
  EXPECT_EQ(changed("\"multi-stream\"", "\"server\""), "bad-rules");
  EXPECT_EQ(changed("\"multi-stream\"", "\"bulk\""), "bad-json-field");
  EXPECT_EQ(changed("0.99, 0.999", "99"), "bad-json-field");
  EXPECT_EQ(changed("\"server_latency_s\"", "\"server_latency_ms\""), "bad-json-field");
  EXPECT_EQ(changed("{\"name\": \"one\"", "{\"name\": \"\""), "bad-rules");
  EXPECT_EQ(changed("[{\"name\": \"two\", ", "[{"), "bad-json-field");
  EXPECT_EQ(changed("\"training\": [", "\"training\": [{\"name\": \"Zwei\", \"quality\": \"\", \"benchmark\": \"\"}, "),
            "bad-rules");
}

}  // namespace
}  // namespace perfcast::ai
