#include "ai/serving/cpu_serving_forecast.h"

#include <gtest/gtest.h>

#include <memory>

#include "ai/engine/testing/test_engine.h"
#include "ai/serving/cpu_step_time.h"

namespace perfcast::ai {
namespace {

CpuService service_of(std::optional<bool> has_room = true) {
  CpuService service;
  service.engine = engine_test::cpu_profile();
  service.work = engine_test::cpu_work();
  service.servers = {
      {cpu_engine_machine_of(engine_test::cpu(), Precision::kFp16, 1), service.engine.measured, has_room}};
  return service;
}

// So many clients, each with one request after the other of 100 tokens and 11 new ones.
ServingRequestFor request_of(int64_t clients, int64_t requests) {
  ServingRequestFor request;
  request.profile = std::make_shared<EngineProfile>();
  request.devices.resize(1);
  ServingLoad load;
  load.concurrency = clients;
  load.trace = [requests] {
    ServingTrace trace;
    trace.requests.assign(static_cast<size_t>(requests), {.prompt_tokens = 100, .output_tokens = 11});
    return trace;
  };
  request.loads = {load};
  return request;
}

TEST(CpuServing, OneClientGetsASingleStream) {
  const CpuService service = service_of();
  const auto result = forecast_serving_on_cpus(service, request_of(1, 20));
  ASSERT_TRUE(result) << to_text(result.error());
  ASSERT_EQ(result->rows.size(), 1U);
  const ServingSummary& forecast = result->rows[0].forecast;
  const CpuServer& on = service.servers[0];
  const CpuEngineTimes alone = cpu_engine_times(service.engine.constants, on.machine, service.work, false, 100);
  EXPECT_EQ(forecast.finished, 20);
  // A prompt's pairs are counted one by one: n (n + 1) / 2.
  EXPECT_NEAR(forecast.first_token.p50 / alone.first_s(), 1, 0.01);
  EXPECT_NEAR(forecast.further_token.p50 / alone.further_s(), 1, 1e-9);
  EXPECT_GT(result->rows[0].slow.further_token.p50, forecast.further_token.p50);
  EXPECT_LT(result->rows[0].fast.further_token.p50, forecast.further_token.p50);
}

TEST(CpuServing, MoreClientsGetMoreTokensAndWaitLonger) {
  const auto one = forecast_serving_on_cpus(service_of(), request_of(1, 40));
  const auto eight = forecast_serving_on_cpus(service_of(), request_of(8, 40));
  ASSERT_TRUE(one && eight);
  EXPECT_GT(eight->rows[0].forecast.output_tokens_per_s, 1.2 * one->rows[0].forecast.output_tokens_per_s);
  EXPECT_LT(eight->rows[0].forecast.output_tokens_per_s, 8 * one->rows[0].forecast.output_tokens_per_s);
  EXPECT_GT(eight->rows[0].forecast.further_token.p50, one->rows[0].forecast.further_token.p50);
}

TEST(CpuServing, LimitsAreTheEnginesOwnForEachProcess) {
  const EngineLimits limits = cpu_engine_limits(engine_test::cpu_work(), 2);
  EXPECT_EQ(limits.max_sequences, 256);
  EXPECT_EQ(limits.step_tokens, 4096);
  EXPECT_EQ(limits.cache_tokens, int64_t{8} * 1024 * 1024 * 1024 / 1000);
  ServingRequestFor request = request_of(4, 8);
  request.max_sequences = 2;
  request.cache_tokens = 500;
  const auto result = forecast_serving_on_cpus(service_of(), std::move(request));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->rows[0].limits.max_sequences, 2);
  EXPECT_EQ(result->rows[0].limits.step_tokens, 2048);
  EXPECT_EQ(result->rows[0].limits.cache_tokens, 500);
}

TEST(CpuServing, SaysWhatDoesNotFit) {
  const auto no_room = forecast_serving_on_cpus(service_of(false), request_of(1, 1));
  ASSERT_FALSE(no_room);
  EXPECT_EQ(no_room.error().code, "no-memory");
  ServingRequestFor request = request_of(1, 1);
  request.cache_tokens = 64;
  const auto too_long = forecast_serving_on_cpus(service_of(), std::move(request));
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, "too-long");
}

}  // namespace
}  // namespace perfcast::ai
