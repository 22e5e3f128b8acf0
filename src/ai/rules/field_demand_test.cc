#include "ai/rules/field_demand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Demand : public testing::Test {
 protected:
  Demand() : rules_(read_bench_rules(PERFCAST_SOURCE_DIR "/data/bench/rules.json")) {}
  void SetUp() override { ASSERT_TRUE(rules_) << rules_.error().message; }

  FieldDemand of(const std::string& benchmark, LoadScenario scenario,
                 BenchDivision division = BenchDivision::kClosed) const {
    const auto field = field_demand_of(*rules_, {benchmark, "", division, false}, scenario);
    EXPECT_TRUE(field) << benchmark;
    return field ? *field : FieldDemand();
  }
  // A run's settings as the field has them.
  static LoadSettings settings_of(const FieldDemand& field, LoadScenario scenario) {
    LoadSettings settings;
    settings.scenario = scenario;
    settings.loaded_samples = settings.total_samples = field.samples > 0 ? field.samples : 1024;
    settings.samples_per_query = field.samples_per_query;
    settings.equal_issue = field.equal_issue;
    return settings;
  }

  Result<BenchRules> rules_;
};

TEST_F(Demand, TheFieldsOwnRulesAreNotLooser) {
  for (const char* const name : {"resnet50", "bert", "dlrm-v2", "tiny-keyword-spotting"}) {
    const FieldDemand field = of(name, LoadScenario::kOffline);
    EXPECT_THAT(looser_than_field(field, field.rules, settings_of(field, LoadScenario::kOffline)), IsEmpty()) << name;
  }
}

TEST_F(Demand, EachLooserLimitIsToldWithBothNumbers) {
  const FieldDemand field = of("resnet", LoadScenario::kServer);
  EXPECT_EQ(field.benchmark, "resnet50");
  LoadRules used = field.rules;
  LoadSettings settings = settings_of(field, LoadScenario::kServer);
  used.max_latency_s = 0.02;
  EXPECT_THAT(looser_than_field(field, used, settings), ElementsAre("latency limit 20 ms, the field's is 15 ms"));
  used.max_latency_s = 0.01500001;
  EXPECT_THAT(looser_than_field(field, used, settings),
              ElementsAre("latency limit 0.01500001 s, the field's is 0.015 s"));
  used.max_latency_s.reset();
  EXPECT_THAT(looser_than_field(field, used, settings), ElementsAre("no latency limit, the field's is 15 ms"));
  used = field.rules;
  used.percentile = 0.9;
  used.least_accuracy = 60;
  settings.loaded_samples = 16;
  settings.equal_issue = true;
  EXPECT_THAT(looser_than_field(field, used, settings),
              ElementsAre("latencies are judged at p90, by the field at p99",
                          "least top-1 accuracy in % 60, the field's is 75.6954",
                          "16 samples are drawn from, the field's are 1024",
                          "every sample comes as often as every other, the field draws them at random"));
  used.least_accuracy.reset();
  EXPECT_THAT(looser_than_field(field, used, settings_of(field, LoadScenario::kServer)).back(),
              "no top-1 accuracy in % is required; the rules of the field require 75.6954");
}

TEST_F(Demand, StricterIsFine) {
  const FieldDemand field = of("resnet50", LoadScenario::kServer);
  LoadRules used = field.rules;
  used.max_latency_s = 0.01;
  used.max_ttft_s = 0.005;
  used.percentile = 0.999;
  used.least_accuracy = 76;
  LoadSettings settings = settings_of(field, LoadScenario::kServer);
  settings.loaded_samples = 50000;
  EXPECT_THAT(looser_than_field(field, used, settings), IsEmpty());
  // As an option gives it: 175 * 0.001 is no 0.175.
  const FieldDemand tokens = of("llama3.1-405b", LoadScenario::kServer);
  used = tokens.rules;
  used.max_tpot_s = 175 * 0.001;
  EXPECT_THAT(looser_than_field(tokens, used, settings_of(tokens, LoadScenario::kServer)),
              ElementsAre(HasSubstr("no quality that the rules require of llama3.1-405b")));
}

TEST_F(Demand, TokensAndStreamsHaveTheirs) {
  const FieldDemand tokens = of("llama2-70b", LoadScenario::kServer);
  EXPECT_TRUE(tokens.streams);
  LoadRules used = tokens.rules;
  used.max_ttft_s = 3;
  used.max_tpot_s = 0.25;
  EXPECT_THAT(looser_than_field(tokens, used, settings_of(tokens, LoadScenario::kServer)),
              ElementsAre("limit of the time to first token 3 s, the field's is 2 s",
                          "limit of the time per output token 250 ms, the field's is 200 ms", HasSubstr("ROUGE-1")));
  const FieldDemand multi = of("resnet50", LoadScenario::kMultiStream);
  LoadSettings settings = settings_of(multi, LoadScenario::kMultiStream);
  settings.samples_per_query = 4;
  EXPECT_THAT(looser_than_field(multi, multi.rules, settings),
              ElementsAre("queries of 4, the field's are of 8 samples"));
  settings.scenario = LoadScenario::kSingleStream;
  EXPECT_THAT(looser_than_field(multi, multi.rules, settings), IsEmpty());
}

// No closed run is set beside published results by an accuracy that nobody asked for.
TEST_F(Demand, QualitiesThatNothingHoldsAreNamed) {
  for (const InferenceRule& rule : rules_->inference) {
    const FieldDemand field = of(rule.name, LoadScenario::kOffline);
    EXPECT_TRUE(field.rules.least_accuracy || !field.unheld_quality.empty()) << rule.name;
    if (!rule.reference) {
      EXPECT_THAT(field.unheld_quality, ElementsAre(HasSubstr("no quality that the rules require of " + rule.name)))
          << rule.name;
    }
    EXPECT_THAT(of(rule.name, LoadScenario::kOffline, BenchDivision::kOpen).unheld_quality, IsEmpty());
  }
  for (const char* const unknown : {"retinanet", "llama3.1-405b", "llama3.1-8b"}) {
    EXPECT_FALSE(of(unknown, LoadScenario::kOffline).rules.least_accuracy) << unknown;
  }
  EXPECT_THAT(of("gptj", LoadScenario::kOffline).unheld_quality,
              ElementsAre("of the quality of gptj ROUGE-1 alone is held, not ROUGE-2 (20.1235), ROUGE-L (29.9881)"));
  EXPECT_THAT(of("sdxl", LoadScenario::kOffline).unheld_quality,
              ElementsAre(AllOf(HasSubstr("CLIP alone is held"), HasSubstr("FID within 23.0108 and 23.9501"))));
  EXPECT_THAT(of("resnet50", LoadScenario::kOffline).unheld_quality, IsEmpty());
}

TEST_F(Demand, WithoutABenchmarkNothingIsAsked) {
  const auto field = field_demand_of(*rules_, {"", "edge", BenchDivision::kClosed, false}, LoadScenario::kSingleStream);
  ASSERT_TRUE(field);
  EXPECT_EQ(field->benchmark, "");
  EXPECT_THAT(looser_than_field(*field, field->rules, {}), IsEmpty());
  EXPECT_FALSE(field_demand_of(*rules_, {"resnet51", "", BenchDivision::kClosed, false}, LoadScenario::kServer));
}

}  // namespace
}  // namespace perfcast::ai
