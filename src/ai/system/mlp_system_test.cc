#include "ai/system/mlp_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ai/load/load_generator.h"

namespace perfcast::ai {
namespace {

using testing::IsEmpty;

TEST(MlpSystem, ReadsItsForms) {
  EXPECT_EQ(parse_mlp("mlp", "")->widths, (std::vector<int64_t>{784, 512, 512, 10}));
  EXPECT_EQ(parse_mlp("mlp:3,4", "")->widths, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(parse_mlp("gemm:256", "")->widths, (std::vector<int64_t>{256, 256}));
  EXPECT_EQ(parse_mlp("gemm", "")->widths, (std::vector<int64_t>{512, 512}));
  for (const char* const text :
       {"mlp:", "mlp:3", "mlp:3,0", "mlp:3,-4", "mlp:3,x", "mlp:3,65537", "mlp:65536,65536", "gemm:70000"}) {
    const auto options = parse_mlp(text, "--system");
    ASSERT_FALSE(options) << text;
    EXPECT_EQ(options.error().where, "--system");
  }
}

TEST(MlpSystem, AnswersRightInEveryBatch) {
  MlpOptions options;
  options.widths = {32, 48, 10};
  options.largest_batch = 8;
  for (const LoadScenario scenario :
       {LoadScenario::kSingleStream, LoadScenario::kMultiStream, LoadScenario::kServer, LoadScenario::kOffline}) {
    MlpSystem system(options);
    LoadSettings settings;
    settings.scenario = scenario;
    settings.mode = LoadMode::kAccuracy;
    settings.loaded_samples = settings.total_samples = 50;
    settings.target_qps = 5000;
    LoadHooks hooks;
    hooks.judge = [&](uint32_t index, std::string_view data) { return system.is_right(index, data); };
    const auto result = run_load(settings, system, hooks);
    ASSERT_TRUE(result);
    EXPECT_THAT(result->faults, IsEmpty());
    EXPECT_GE(result->judged, 50);
    EXPECT_EQ(result->right, result->judged);
  }
}

TEST(MlpSystem, TellsAWrongAnswer) {
  MlpOptions options;
  options.widths = {32, 48, 10};
  MlpSystem system(options);
  EXPECT_FALSE(system.is_right(0, "1"));  // nothing was started
  LoadSettings settings;
  settings.loaded_samples = settings.total_samples = 4;
  settings.min_duration_s = 0;
  ASSERT_TRUE(run_load(settings, system));
  int right = 0;
  for (int i = 0; i < 10; ++i) right += *system.is_right(0, std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(right, 1);
  for (const char* const data : {"", "x", "10", "-1", "9999999999"}) EXPECT_EQ(system.is_right(0, data), false) << data;
}

}  // namespace
}  // namespace perfcast::ai
