#include "ai/system/pipe_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ai/load/load_generator.h"
#include "base/process/program_inspector.h"

namespace perfcast::ai {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kScript = PERFCAST_SOURCE_DIR "/src/ai/system/testing/pipe_system.py";

class PipeOf : public testing::Test {
 protected:
  void SetUp() override {
    if (find_in_path("python3").empty()) GTEST_SKIP() << "no python3 here";
    settings_.loaded_samples = settings_.total_samples = 32;
    settings_.min_duration_s = 0;
    settings_.min_queries = 40;
    settings_.answer_limit_s = 1;
  }

  LoadResult run(const std::string& mode) {
    PipeSystem system({{"python3", kScript, mode}, 20, false});
    const auto result = run_load(settings_, system, hooks_);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *result : LoadResult();
  }

  static testing::Matcher<std::vector<LoadFault>> fault(const std::string& code, const std::string& text) {
    return Contains(
        testing::AllOf(Field("code", &LoadFault::code, code), Field("message", &LoadFault::message, HasSubstr(text))));
  }

  LoadSettings settings_;
  LoadHooks hooks_;
};

TEST_F(PipeOf, AGoodSystemAnswersEveryScenario) {
  PipeSystem system({{"python3", kScript, "good"}, 20, false});
  for (const LoadScenario scenario :
       {LoadScenario::kSingleStream, LoadScenario::kMultiStream, LoadScenario::kServer, LoadScenario::kOffline}) {
    settings_.scenario = scenario;
    settings_.target_qps = 500;
    const auto result = run_load(settings_, system);  // the same process for all
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_THAT(result->faults, IsEmpty()) << to_string(scenario);
    EXPECT_GE(result->answered, 40);
  }
}

TEST_F(PipeOf, ItsAnswersAreJudged) {
  settings_.mode = LoadMode::kAccuracy;
  hooks_.judge = [](uint32_t index, std::string_view data) {
    return std::optional<bool>(data == "answer " + std::to_string(index));
  };
  const LoadResult result = run("good");
  EXPECT_EQ(result.judged, 32);
  EXPECT_EQ(result.right, 32);
}

TEST_F(PipeOf, TokensAreTimed) {
  settings_.tokens = true;
  const LoadResult result = run("tokens");
  EXPECT_THAT(result.faults, IsEmpty());
  EXPECT_EQ(result.tokens, 3 * result.answered);
  EXPECT_EQ(result.too_few_tokens, 0);
}

TEST_F(PipeOf, WhatIsPutAsideComesWithTheFlush) {
  settings_.scenario = LoadScenario::kServer;
  settings_.target_qps = 1000;
  const LoadResult result = run("batch");
  EXPECT_THAT(result.faults, IsEmpty());
  EXPECT_EQ(result.unanswered(), 0);
}

TEST_F(PipeOf, ADeathIsToldWithItsLastWords) {
  const LoadResult result = run("die");
  EXPECT_THAT(result.faults, fault("system-broke", "ended with exit status 3: no memory left"));
  EXPECT_EQ(result.answered, 10);
}

TEST_F(PipeOf, ADeathBySignalIsTold) { EXPECT_THAT(run("kill").faults, fault("system-broke", "ended by signal 9")); }

TEST_F(PipeOf, AHangEndsAtTheLimit) {
  const LoadResult result = run("hang");
  EXPECT_THAT(result.faults, fault("system-hung", "no answer for 1 s"));
  EXPECT_EQ(result.answered, 10);
}

TEST_F(PipeOf, AHungSystemIsStartedAnew) {
  PipeSystem system({{"python3", kScript, "hang"}, 20, false});
  settings_.answer_limit_s = 0.3;
  for (int i = 0; i < 2; ++i) {
    const auto result = run_load(settings_, system);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->answered, 10);
  }
}

TEST_F(PipeOf, MoreTokensThanCameAreNotTaken) {
  settings_.tokens = true;
  EXPECT_THAT(run("claims").faults, fault("token-counts", "says 30 tokens, 3 came; 40 such in all"));
}

TEST_F(PipeOf, WrongAnswersAreNamed) {
  EXPECT_THAT(run("twice").faults, fault("answered-twice", "has one already"));
  EXPECT_THAT(run("unknown").faults, fault("unknown-ids", "id 1000000000000"));
  const LoadResult nonsense = run("nonsense");
  EXPECT_THAT(nonsense.faults, fault("bad-answers", "not JSON: progress 5%"));
  EXPECT_EQ(nonsense.unanswered(), 0);
  const LoadResult error = run("error");
  EXPECT_THAT(error.faults, fault("failed-answers", "an odd one"));
  EXPECT_GT(error.failed, 0);
  EXPECT_GT(error.answered, 0);
}

TEST_F(PipeOf, ASystemThatIsNotReadyIsAnError) {
  PipeSystem silent({{"python3", kScript, "unready"}, 0.5, false});
  const auto result = run_load(settings_, silent);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "system-not-ready");
  PipeSystem ended({{"false"}, 5, false});
  const auto refused = run_load(settings_, ended);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("exit status 1"));
  PipeSystem absent({{"no-such-program-here"}, 5, false});
  ASSERT_FALSE(run_load(settings_, absent));
}

}  // namespace
}  // namespace perfcast::ai
