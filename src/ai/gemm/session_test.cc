#include "ai/gemm/session.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ai/gemm/report/report.h"
#include "ai/gemm/run/limit_tasks.h"
#include "ai/gemm/run/noise.h"
#include "base/json.h"
#include "machine/ceiling/cpu_isa.h"
#include "machine/ceiling/peak_loops.h"

namespace perfcast::ai::gemm {
namespace {

using testing::HasSubstr;

GemmRequest small_request(const std::string& rungs) {
  GemmRequest request;
  request.shapes = {{40, 30, 50}};
  request.rungs = *select_rungs(rungs);
  request.threads = {1, 2};
  request.advice = false;
  request.read_bytes = 1 << 20;
  request.ladder.worker = {PERFCAST_BINARY_DIR "/bin/perfcast_gemm_guinea_worker"};
  request.ladder.rounds = 2;
  request.ladder.turn_s = 0.001;
  request.ladder.budget_s = 0.1;
  return request;
}

TEST(Session, MeasuresLimitsAndRungs) {
  const auto result = run_gemm(small_request("naive-o1,interchange,onednn"));
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->rungs.size(), 4u);  // oneDNN at one and at two threads
  EXPECT_EQ(result->rungs[0].name, "naive-o1");
  EXPECT_EQ(result->rungs[0].speedup, 1);
  EXPECT_EQ(result->rungs[3].threads, 2);
  for (const RungResult& row : result->rungs) {
    EXPECT_TRUE(row.correct) << row.name;
    EXPECT_GT(row.gflops, 0);
    EXPECT_NEAR(row.gflops * 1e9 * row.median_s, 2.0 * 40 * 30 * 50, 1);
    if (!peak_loops().empty() && row.threads <= online_cores()) {
      EXPECT_GT(row.peak_share, 0) << row.name;
    }
  }
  EXPECT_TRUE(result->advice.empty());
  ASSERT_FALSE(result->bandwidths.empty());  // so small a product moves much for what it computes
  EXPECT_TRUE(std::isfinite(result->bandwidths[0].spread));
  const Json json = to_json(*result);
  EXPECT_EQ(json["schema"], "perfcast.gemm/1");
  EXPECT_EQ(json["rungs"][1]["m"], 40);
  EXPECT_THAT(to_text(*result), HasSubstr("C = A B, M x N x K = 40 x 30 x 50"));
  const auto picture = roofline_svg(*result);
  ASSERT_TRUE(picture) << picture.error().message;
  EXPECT_THAT(*picture, HasSubstr("naive ijk, -O1: "));
}

// In pieces of 4 MiB, each read once: of 5 MiB for each thread one.
TEST(Session, ReadsEveryPieceOfAnArrayOnce) {
  const auto task = make_read_task({"read", "memory", {10 << 20}, 2, 1, {}});
  ASSERT_TRUE(task);
  ASSERT_TRUE((*task)->prepare());
  EXPECT_EQ((*task)->work(), 8 << 20);
  EXPECT_FALSE((*task)->check()->correct);
  EXPECT_GT(*(*task)->run(3), 0);
  EXPECT_TRUE((*task)->check()->correct);
  const auto small = make_read_task({"read", "memory", {4096}, 4, 1, {}});
  ASSERT_TRUE(small);
  ASSERT_TRUE((*small)->prepare());
  EXPECT_EQ((*small)->work(), 4096);
  EXPECT_GT(*(*small)->run(1), 0);
  EXPECT_TRUE((*small)->check()->correct);
}

TEST(Session, MoreThreadsThanCoresHaveNoShareOfAPeak) {
  GemmRequest request = small_request("onednn");
  request.threads = {1, online_cores() + 1};
  const auto result = run_gemm(request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->warnings, testing::Contains(HasSubstr("more threads than cores")));
  ASSERT_EQ(result->rungs.size(), 2u);
  EXPECT_EQ(std::isnan(result->rungs[0].peak_share), peak_loops().empty());
  EXPECT_GT(result->rungs[1].gflops, 0);
  EXPECT_TRUE(std::isnan(result->rungs[1].peak_share));
  EXPECT_TRUE(std::isnan(result->rungs[1].peak_gflops));
  request.threads = {1};
  const auto quiet = run_gemm(request);
  ASSERT_TRUE(quiet);
  EXPECT_THAT(quiet->warnings, testing::Not(testing::Contains(HasSubstr("more threads than cores"))));
}

TEST(Session, SkippedRungsCarryTheirReason) {
  GemmRequest request = small_request("naive-o1,interchange");
  request.ladder.slow_limit_s = 1e-9;
  const auto result = run_gemm(request);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->rungs.empty());
  ASSERT_EQ(result->skipped.size(), 2u);
  EXPECT_THAT(result->skipped[0].reason, HasSubstr("--run-limit"));
  EXPECT_EQ(roofline_svg(*result).error().code, "nothing-to-draw");
}

TEST(Session, RefusesWhatDoesNotFit) {
  if (std::isnan(available_memory())) GTEST_SKIP() << "free memory is not known here";
  GemmRequest request = small_request("*");
  request.shapes = {{kMaxSide, kMaxSide, kMaxSide}};
  const auto result = run_gemm(request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "too-large");
  EXPECT_THAT(result.error().message, HasSubstr(" workers, each with the three matrices and their packed copies"));
  request.rungs = *select_rungs("naive*");
  request.precisions = {Precision::kTf32};
  EXPECT_EQ(run_gemm(request).error().code, "bad-usage");
}

TEST(Noise, ReadsStolenTime) {
  const CpuTicks ticks = parse_cpu_ticks("cpu  10 1 5 100 2 0 1 7 3 0\ncpu0 1 1 1\n");
  EXPECT_EQ(ticks.all, 126u);
  EXPECT_EQ(ticks.stolen, 7u);
  EXPECT_DOUBLE_EQ(steal_share({100, 2}, {200, 7}), 0.05);
  EXPECT_TRUE(std::isnan(steal_share({0, 0}, {0, 0})));
  for (const char* text : {"", "cpux 1 2", "intr 5", "cpu  1 b"}) EXPECT_EQ(parse_cpu_ticks(text).all, 0u) << text;
}

}  // namespace
}  // namespace perfcast::ai::gemm
