// What a machine without a GPU can say of the rungs of one; cuda_test.cc has the rest.

#include <gmock/gmock.h>

#include "ai/gemm/session.h"

namespace perfcast::ai::gemm {
namespace {

using testing::StartsWith;

TEST(CudaRungs, AreSkippedWithTheReasonWithoutADriver) {
  const Rung* naive = find_rung("cuda-naive");
  if (naive == nullptr) GTEST_SKIP() << "a build without CUDA";
  if (naive->unavailable().empty()) GTEST_SKIP() << "a driver is here";
  GemmRequest request;
  request.shapes = {{40, 30, 50}};
  request.rungs = *select_rungs("cu*");
  EXPECT_EQ(request.rungs.size(), 7u);
  request.read_bytes = 1 << 20;
  request.ladder.worker = {PERFCAST_BINARY_DIR "/bin/perfcast_gemm_guinea_worker"};
  request.ladder.rounds = 1;
  const auto result = run_gemm(request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->rungs.empty());
  EXPECT_TRUE(result->peaks.empty());
  EXPECT_TRUE(result->warnings.empty() || result->warnings[0].find("peak") == std::string::npos);
  ASSERT_EQ(result->skipped.size(), 7u);
  for (const SkippedRung& skipped : result->skipped) {
    EXPECT_THAT(skipped.reason, StartsWith("CUDA driver is missing: libcuda.so.1")) << skipped.name;
  }
}

}  // namespace
}  // namespace perfcast::ai::gemm
