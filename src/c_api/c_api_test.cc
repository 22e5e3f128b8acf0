#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "perfcast.h"

namespace perfcast {
namespace {

// Both of a call; one is empty.
struct Outcome {  // NOLINT(bugprone-exception-escape): nlohmann's destructor
  Json answer;
  std::string code, message, where, allowed;
};

Outcome outcome_of(perfcast_error* error, char* answer) {
  Outcome outcome;
  if (error != nullptr) {
    outcome = {{},
               perfcast_error_code(error),
               perfcast_error_message(error),
               perfcast_error_where(error),
               perfcast_error_allowed(error)};
    EXPECT_EQ(answer, nullptr);
  } else {
    outcome.answer = Json::parse(answer);
  }
  perfcast_free_error(error);
  perfcast_free_text(answer);
  return outcome;
}

class CApi : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    perfcast_error* error = perfcast_open(PERFCAST_SOURCE_DIR "/data/bundles/cpus.pcb", &bundle_);
    ASSERT_EQ(error, nullptr) << perfcast_error_message(error);
    const auto profile = read_file(PERFCAST_SOURCE_DIR "/data/profiles/apps/apps.aobench.json");
    ASSERT_TRUE(profile);
    profile_ = *profile;
  }
  static void TearDownTestSuite() { perfcast_close(bundle_); }

  static Outcome call(const char* operation, const char* request) {
    char* answer = nullptr;
    perfcast_error* error = perfcast_call(bundle_, operation, request, &answer);
    return outcome_of(error, answer);
  }
  static Outcome forecast(const char* profile, const char* options) {
    char* answer = nullptr;
    perfcast_error* error = perfcast_forecast_profile(bundle_, profile, options, &answer);
    return outcome_of(error, answer);
  }

  static inline perfcast_bundle* bundle_ = nullptr;
  static inline std::string profile_;
};

TEST_F(CApi, ForecastsAProfile) {
  const Outcome three = forecast(profile_.c_str(), R"({"top": 3})");
  ASSERT_EQ(three.code, "") << three.message;
  EXPECT_EQ(three.answer["schema"], "perfcast.forecast/1");
  EXPECT_EQ(three.answer["program"], "apps.aobench");
  ASSERT_EQ(three.answer["platforms"].size(), 3);
  EXPECT_LT(three.answer["platforms"][0]["rpv"], three.answer["platforms"][2]["rpv"]);
  EXPECT_EQ(call("forecast", (R"({"top": 3, "profile": )" + profile_ + "}").c_str()).answer, three.answer);
  EXPECT_GT(forecast(profile_.c_str(), nullptr).answer["platforms"].size(), 200);
}

TEST_F(CApi, ForecastsALanguageModel) {
  char* answer = nullptr;
  perfcast_error* error =
      perfcast_forecast_model(bundle_, "llama3-8b", "h100,l4", R"({"price": {"l4": 0.8}})", &answer);
  const Outcome outcome = outcome_of(error, answer);
  ASSERT_EQ(outcome.code, "") << outcome.message;
  ASSERT_EQ(outcome.answer["rows"].size(), 2);
  EXPECT_EQ(outcome.answer["rows"][1]["device"], "NVIDIA L4");
  EXPECT_FALSE(outcome.answer["rows"][0].contains("cost_per_million_tokens_usd"));
  EXPECT_GT(outcome.answer["rows"][1]["cost_per_million_tokens_usd"], 0);
}

TEST_F(CApi, ReadsAModelsConfig) {
  const char* config =
      R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257, "n_positions": 1024})";
  char* answer = nullptr;
  perfcast_error* error = perfcast_forecast_model(bundle_, config, "h100", R"({"engine": "none"})", &answer);
  const Outcome outcome = outcome_of(error, answer);
  ASSERT_EQ(outcome.code, "") << outcome.message;
  EXPECT_NEAR(outcome.answer["parameters"].get<double>(), 124.4e6, 0.1e6);
}

TEST_F(CApi, SimulatesAService) {
  char* answer = nullptr;
  perfcast_error* error =
      perfcast_simulate_serving(bundle_, "llama3-8b", "h100", R"({"rate": [2], "requests": 200})", &answer);
  const Outcome outcome = outcome_of(error, answer);
  ASSERT_EQ(outcome.code, "") << outcome.message;
  EXPECT_EQ(outcome.answer["schema"], "perfcast.serving/1");
  EXPECT_EQ(outcome.answer["rows"][0]["requests"], 200);
  EXPECT_EQ(outcome.answer["rows"][0]["pace"], "keeps up");
}

TEST_F(CApi, SaysWhatIsWrong) {
  const Outcome unknown = call("forcast", "{}");
  EXPECT_EQ(unknown.code, "unknown-operation");
  EXPECT_EQ(unknown.where, "operation");
  EXPECT_NE(unknown.allowed.find("forecast"), std::string::npos);
  EXPECT_EQ(call("forecast", "{").code, "bad-json");
  EXPECT_EQ(call("forecast", "[]").code, "bad-json-field");
  EXPECT_EQ(call("forecast", R"({"profile": {}, "topp": 3})").code, "bad-json-field");
  EXPECT_EQ(forecast("{", nullptr).where.substr(0, 12), "profile_json");
  EXPECT_EQ(forecast(profile_.c_str(), "3").code, "bad-json");
  EXPECT_EQ(forecast(profile_.c_str(), R"({"profile": {}})").where, "profile");
  const Outcome place = forecast(profile_.c_str(), R"({"reference": "Zilog Z80"})");
  EXPECT_EQ(place.code, "unknown-platform");
  EXPECT_EQ(place.where, "reference");
  char* answer = nullptr;
  perfcast_error* error = perfcast_forecast_model(bundle_, "llama3-8b", "h100,abacus", nullptr, &answer);
  EXPECT_EQ(outcome_of(error, answer).code, "unknown-device");
}

TEST_F(CApi, TakesNoNullPointers) {
  EXPECT_EQ(call(nullptr, "{}").where, "operation");
  EXPECT_EQ(call("forecast", nullptr).where, "request_json");
  EXPECT_EQ(forecast(nullptr, nullptr).where, "profile_json");
  EXPECT_EQ(outcome_of(perfcast_call(nullptr, "forecast", "{}", nullptr), nullptr).where, "bundle");
  EXPECT_EQ(outcome_of(perfcast_open(nullptr, nullptr), nullptr).where, "bundle");
  perfcast_close(nullptr);
}

TEST_F(CApi, OpensNoOtherFile) {
  perfcast_bundle* bundle = nullptr;
  EXPECT_EQ(outcome_of(perfcast_open("/nonexistent/a.pcb", &bundle), nullptr).code, "file-not-found");
  EXPECT_EQ(outcome_of(perfcast_open(PERFCAST_SOURCE_DIR "/LICENSE", &bundle), nullptr).code, "bad-bundle");
  EXPECT_EQ(bundle, nullptr);
}

TEST_F(CApi, AnswersSeveralThreads) {
  const Json alone = forecast(profile_.c_str(), nullptr).answer;
  std::vector<Json> answers(4);
  {
    std::vector<std::jthread> threads;
    threads.reserve(answers.size());
    for (Json& answer : answers)
      threads.emplace_back([&answer] { answer = forecast(profile_.c_str(), nullptr).answer; });
  }
  for (const Json& answer : answers) EXPECT_EQ(answer, alone);
}

}  // namespace
}  // namespace perfcast
