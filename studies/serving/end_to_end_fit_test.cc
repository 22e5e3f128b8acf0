#include "studies/serving/end_to_end_fit.h"

#include <gtest/gtest.h>

#include <utility>

#include "ai/engine/testing/test_engine.h"

namespace perfcast::ai::serving_study {
namespace {

// One client; prompts that differ and short answers: first tokens that a constant makes longer.
std::vector<EndToEndService> services_by(const EngineProfile& truth) {
  DeviceFacts device = engine_test::device();
  device.aliases = {"b200"};
  std::vector<EndToEndService> services;
  for (const int64_t prompt : {64, 128, 256}) {
    EndToEndPoint point;
    point.engine = "vllm";
    point.model = "llama3.1-8b";
    point.system = "b200_sxm";
    point.prompt_tokens = prompt;
    point.output_tokens = 4;
    point.clients = 1;
    const auto times = EndToEndService::of(point, {{device}})->simulate(truth);
    EXPECT_TRUE(times) << to_text(times.error());
    point.first_s = times->first_s;
    point.further_s = times->further_s;
    services.push_back(*EndToEndService::of(point, {{device}}));
  }
  return services;
}

EngineProfile with_first_fixed(double ms) {
  EngineProfile profile = engine_test::profile();
  profile.constants.first_fixed_ms = ms;
  return profile;
}

TEST(EndToEndFit, FindsAConstantAgain) {
  const auto services = services_by(with_first_fixed(40));
  const auto fitted =
      fit_end_to_end(with_first_fixed(10), {{&EngineConstants::first_fixed_ms, 0, 1000}}, services, {}, 1);
  ASSERT_TRUE(fitted) << to_text(fitted.error());
  EXPECT_NEAR(fitted->constants.first_fixed_ms, 40, 0.5);
  EXPECT_EQ(fitted->constants.host_step_ms, engine_test::profile().constants.host_step_ms);
}

TEST(EndToEndFit, ThePriorHolds) {
  const auto services = services_by(with_first_fixed(40));
  const FreeConstant held{&EngineConstants::first_fixed_ms, 12, 1e-6};
  EXPECT_NEAR(fit_end_to_end(with_first_fixed(10), {held}, services, {}, 1)->constants.first_fixed_ms, 10, 0.01);
  // Where there is none at the start, the usual one is the centre.
  EXPECT_NEAR(fit_end_to_end(with_first_fixed(0), {held}, services, {}, 1)->constants.first_fixed_ms, 12, 0.01);
}

TEST(EndToEndFit, UsesThePointsItMay) {
  auto services = services_by(with_first_fixed(40));
  const auto others = services_by(with_first_fixed(5));
  services.insert(services.end(), others.begin(), others.end());
  const std::vector<bool> use = {false, false, false, true, true, true};
  const auto fitted =
      fit_end_to_end(with_first_fixed(10), {{&EngineConstants::first_fixed_ms, 0, 1000}}, services, use, 1);
  EXPECT_NEAR(fitted->constants.first_fixed_ms, 5, 0.1);
  const auto times = simulate_all(*fitted, services, use, 1);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->front().first_s, 0);  // not asked for
  EXPECT_NEAR(times->back().first_s, services.back().point().first_s, 1e-3 * times->back().first_s);
}

}  // namespace
}  // namespace perfcast::ai::serving_study
