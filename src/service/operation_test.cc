#include "service/operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ai/llm/analysis.h"
#include "ai/llm/model_catalogue.h"
#include "base/json.h"
#include "program/forecast/forecast.h"
#include "service/testing/shipped_context.h"

namespace perfcast::service {
namespace {

using testing::HasSubstr;

const Context& context() {
  static const Context shared(shipped_files());
  return shared;
}

Result<Answer> ask(const std::string& operation, const std::string& body, const Watch& watch = {}) {
  const Operation* found = find_operation(operation);
  if (found == nullptr) return usage_error("no-operation", operation, "", "");
  return answer_json(*found, context(), body, watch);
}

Json answer_of(const std::string& operation, const std::string& body) {
  const auto answer = ask(operation, body);
  EXPECT_TRUE(answer) << to_text(answer.error());
  const auto json = answer ? parse_json(answer->json, operation) : Result<Json>(Json());
  EXPECT_TRUE(json);
  if (!json) return {};
  EXPECT_EQ((*json)["schema"], find_operation(operation)->answer);
  return *json;
}

Error error_of(const std::string& operation, const std::string& body) {
  const auto answer = ask(operation, body);
  EXPECT_FALSE(answer) << answer->json.substr(0, 200);
  return answer ? Error() : answer.error();
}

TEST(Operations, EachHasANameASentenceAndFieldsOfItsOwn) {
  std::set<std::string> names;
  for (const Operation& operation : operations()) {
    EXPECT_TRUE(names.insert(operation.name).second) << operation.name;
    EXPECT_TRUE(operation.summary.ends_with('.')) << operation.name;
    EXPECT_TRUE(operation.answer.starts_with("perfcast.")) << operation.name;
    ASSERT_NE(operation.run, nullptr) << operation.name;
    std::set<std::string> fields;
    for (const Field& field : operation.fields) {
      EXPECT_TRUE(fields.insert(field.name).second) << operation.name << " " << field.name;
      EXPECT_TRUE(field.meaning.ends_with('.')) << operation.name << " " << field.name;
    }
  }
  for (const char* name : {"forecast", "instances", "platforms", "explain", "llm/analyze", "llm/forecast",
                           "llm/serve-sim", "llm/capacity", "audit", "schedule/advise", "corpus/quality"}) {
    EXPECT_NE(find_operation(name), nullptr) << name;
  }
  EXPECT_EQ(find_operation("forecasts"), nullptr);
}

TEST(Operations, AForecastIsThatOfTheVerb) {
  const auto json = parse_json(profile_text(), "p.json");
  ASSERT_TRUE(json);
  const auto profile = profile_from_json(*json, "p.json");
  ASSERT_TRUE(profile);
  program::ForecastRequest request;
  request.core_designs = context().core_designs();
  const auto report = program::forecast_program(**context().forecaster(), *profile, request);
  ASSERT_TRUE(report);
  const auto answer = ask("forecast", request_with_profile());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->json, compact_text(to_json(*report)));
  EXPECT_EQ(answer->forecasts, 1);
  EXPECT_EQ(answer->out_of_distribution, report->in_distribution ? 0 : 1);
}

TEST(Operations, AForecastHasTheRowsThatWereAskedFor) {
  const Json all = answer_of("forecast", request_with_profile());
  const Json top = answer_of("forecast", request_with_profile(R"("top": 3, "reasons": false)"));
  ASSERT_EQ(top["platforms"].size(), 3U);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(top["platforms"][i], all["platforms"][i]);
  const Json named = answer_of("forecast", request_with_profile(R"("top": 1, "platforms": ["AMD EPYC 7763"])"));
  ASSERT_EQ(named["platforms"].size(), 1U);
  EXPECT_EQ(named["platforms"][0]["name"], "AMD EPYC 7763 64-Core Processor");
  const Json measured = answer_of("forecast", request_with_profile(R"("measured": {"AMD EPYC 7763": 12.5})"));
  EXPECT_EQ(measured["time_basis"], "measured");
}

TEST(Operations, SeveralProfilesAreEachForecastOrRefused) {
  const Json json = answer_of("instances", request_with_profile(R"("price_list": "example")"));
  EXPECT_EQ(json["currency"], "USD");
  EXPECT_TRUE(json["choice"].contains("cheapest"));
  const auto answer = ask(
      "forecast", R"({"top": 1, "reasons": false, "profiles": [)" + profile_text() + ", {}, " + profile_text() + "]}");
  ASSERT_TRUE(answer);
  const auto many = parse_json(answer->json, "many");
  ASSERT_TRUE(many);
  EXPECT_EQ((*many)["schema"], "perfcast.forecasts/1");
  const Json& forecasts = (*many)["forecasts"];
  ASSERT_EQ(forecasts.size(), 3U);
  EXPECT_EQ(forecasts[0]["schema"], "perfcast.forecast/1");
  EXPECT_EQ(forecasts[1]["schema"], "perfcast.error/1");
  EXPECT_THAT(forecasts[1].dump(), HasSubstr("profiles[1]"));
  EXPECT_EQ(forecasts[2], forecasts[0]);
  EXPECT_EQ(answer->forecasts, 3);
}

TEST(Operations, ErrorsNameTheFieldOfTheRequest) {
  EXPECT_EQ(error_of("forecast", "{}").where, "profile");
  EXPECT_EQ(error_of("forecast", request_with_profile(R"("reference": "nothing like it")")).where, "reference");
  EXPECT_EQ(error_of("forecast", request_with_profile(R"("platforms": ["nothing like it"])")).where, "platforms");
  EXPECT_EQ(error_of("explain", request_with_profile(R"("platform": "nothing like it")")).where, "platform");
  EXPECT_EQ(error_of("instances", request_with_profile(R"("price_list": "../secret")")).code, "unknown-price-list");
  EXPECT_EQ(error_of("instances", request_with_profile(R"("sort": "cost")")).where, "sort");
  EXPECT_EQ(error_of("llm/forecast", R"({"model": "llama3-8b", "on": ["H100"], "engine": "nginx"})").where, "engine");
  EXPECT_EQ(error_of("llm/forecast", R"({"model": "llama3-8b", "on": ["H1000"]})").where, "on");
  EXPECT_EQ(error_of("llm/forecast", R"({"model": "llama3-8b", "on": ["H100"], "price": {"L4": 1}})").where, "price");
  EXPECT_EQ(error_of("llm/forecast", R"({"model": "llama3-8b", "on": ["H100"], "precision": "fp3"})").where,
            "precision");
  EXPECT_EQ(
      error_of("llm/serve-sim", R"({"model": "llama3-8b", "on": ["H100"], "rate": [1], "concurrency": [2]})").where,
      "concurrency");
  EXPECT_EQ(error_of("forecast", "{").code, "bad-json");
  EXPECT_EQ(error_of("corpus/quality", "").code, "no-corpus");
}

// Names of models are names: no file is looked for.
TEST(Operations, NoPathReachesTheFileSystem) {
  for (const char* path : {"/etc/passwd", "./config.json", "../data", PERFCAST_SOURCE_DIR}) {
    EXPECT_EQ(error_of("llm/analyze", Json{{"model", path}}.dump()).code, "unknown-model") << path;
  }
}

TEST(Operations, LanguageModelsAreThoseOfTheVerbs) {
  const auto config = ai::built_in_model("llama3-8b");
  ASSERT_TRUE(config);
  ai::LlmWorkload workload;
  workload.phase = ai::LlmPhase::kDecode;
  workload.batch = 4;
  workload.sequence = 100;
  const auto analysis = ai::analyze_llm(*config, workload);
  ASSERT_TRUE(analysis);
  const auto answer = ask("llm/analyze", R"({"model": "llama3-8b", "phase": "decode", "batch": 4, "sequence": 100,
                                             "precision": "fp16"})");
  ASSERT_TRUE(answer) << to_text(answer.error());
  EXPECT_EQ(answer->json, compact_text(ai::analysis_json(*analysis)));
  const Json forecast = answer_of("llm/forecast", R"({"model": "llama3-8b", "on": ["H100", "L40S"], "batch": [1, 8],
      "host": "EPYC 9V84", "price": {"H100": 3.5}})");
  EXPECT_FALSE(forecast.dump().empty());
  const Json own = answer_of("llm/analyze", R"({"config": {"model_type": "llama", "hidden_size": 64,
      "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 32,
      "intermediate_size": 128, "vocab_size": 256, "max_position_embeddings": 64, "hidden_act": "silu",
      "tie_word_embeddings": true}})");
  EXPECT_FALSE(own.empty());
}

TEST(Operations, ASimulationTellsHowFarItIsAndEndsWhenCancelled) {
  const std::string body = R"({"model": "llama3-8b", "on": ["H100"], "rate": [1, 2, 3], "requests": 50})";
  std::vector<std::string> stages;
  Watch watch;
  watch.progress = [&](const std::string& stage) { stages.push_back(stage); };
  const auto whole = ask("llm/serve-sim", body, watch);
  ASSERT_TRUE(whole) << to_text(whole.error());
  EXPECT_EQ(stages, (std::vector<std::string>{"1 of 3 services are simulated", "2 of 3 services are simulated",
                                              "3 of 3 services are simulated"}));
  watch.is_cancelled = [&] { return stages.size() >= 4; };
  const auto part = ask("llm/serve-sim", body, watch);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().code, "interrupted");
  EXPECT_EQ(stages.size(), 4U);
  const std::string plan = R"({"model": "llama3-8b", "on": ["H100"], "rate": [5], "requests": 50, "output_tokens": 16,
      "objective": ["ttft=2s,tpot=100ms,share=90%"], "tensor_parallel": [1]})";
  EXPECT_EQ(answer_of("llm/capacity", plan)["schema"], "perfcast.serving-plan/1");
  watch.is_cancelled = [] { return true; };
  EXPECT_EQ(ask("llm/capacity", plan, watch).error().code, "interrupted");
}

TEST(Operations, ClaimsAreAudited) {
  const Json json = answer_of("audit", R"({"text": ["llama3-70b fp16 h100 batch 1: 120 tok/s"]})");
  ASSERT_EQ(json["claims"].size(), 1U);
  EXPECT_EQ(json["claims"][0]["verdict"], "impossible");
  EXPECT_EQ(error_of("audit", "{}").where, "claims");
}

TEST(Operations, AJobGetsAPartition) {
  const std::string partitions = R"({"schema": "perfcast.partitions/1", "partitions": [
      {"name": "old", "platform": "Intel Xeon E5-2680 v4"}, {"name": "new", "platform": "AMD EPYC 9R45"}]})";
  const Json json =
      answer_of("schedule/advise",
                request_with_profile(R"("script": "#!/bin/sh\n#SBATCH --comment=perfcast:bzip2\n", "partitions": )" +
                                     partitions));
  EXPECT_EQ(json["chosen"], Json::array({"new"}));
}

TEST(Operations, PlatformsAreListed) {
  const Json all = answer_of("platforms", "{}"), some = answer_of("platforms", R"({"filter": ["vendor=AMD"],
      "instances": true})");
  EXPECT_EQ(all["platforms"].size(), (*context().forecaster())->bundle().platforms.size());
  EXPECT_LT(some["platforms"].size(), all["platforms"].size());
  for (const Json& platform : some["platforms"]) {
    EXPECT_EQ(platform["vendor"], "AMD");
    EXPECT_TRUE(platform["instances"].is_array());
  }
  EXPECT_EQ(answer_of("llm/devices", "{}")["schema"], "perfcast.llm.devices/1");
  EXPECT_EQ(answer_of("llm/models", "")["schema"], "perfcast.llm.models/1");
}

}  // namespace
}  // namespace perfcast::service
