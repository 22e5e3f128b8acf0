// The rungs of the GPU against float64, and its peaks. Without a driver it ends with status 77, which ctest takes for
// skipped, and says why.

#include <gtest/gtest.h>

#include <cstdio>

#include "ai/gemm/cuda/cuda_rungs.h"
#include "ai/gemm/cuda/device.h"
#include "ai/gemm/run/gemm_task.h"
#include "ai/gemm/run/verify.h"

namespace perfcast::ai::gemm {
namespace {

TEST(Cuda, EveryRungIsRightOnOddShapes) {
  for (const Rung& rung : cuda_rungs()) {
    for (const Shape& shape : {Shape{37, 53, 129}, Shape{1, 65, 30}, Shape{64, 1, 17}, Shape{300, 200, 512}}) {
      std::vector<float> a(static_cast<size_t>(shape.m * shape.k)), b(static_cast<size_t>(shape.k * shape.n));
      fill_operands(4, a, b);
      const auto kernel = rung.make();
      const Status ready = kernel->prepare({shape, a, b}, 1);
      if (!ready && ready.error().code == "unavailable") {
        std::printf("%s: %s\n", rung.name.c_str(), ready.error().message.c_str());
        break;
      }
      ASSERT_TRUE(ready) << rung.name << ": " << ready.error().message;
      const auto seconds = kernel->run(2);
      ASSERT_TRUE(seconds) << rung.name << ": " << seconds.error().message;
      EXPECT_GT(*seconds, 0);
      std::vector<double> c(static_cast<size_t>(shape.m * shape.n));
      ASSERT_TRUE(kernel->read_result(c));
      const Verdict verdict = verify({shape, a, b}, rung.precision, c, 1);
      EXPECT_TRUE(verdict.correct) << rung.name << ' ' << to_text(shape) << ": " << verdict.detail;
    }
  }
}

TEST(Cuda, EveryPeakIsOne) {
  const std::vector<TaskSpec> peaks = cuda_peaks(precisions());
  EXPECT_EQ(peaks.size(), 4u);
  for (const TaskSpec& spec : peaks) {
    auto task = make_cuda_peak_task(spec);
    ASSERT_TRUE(task);
    if (const Status ready = (*task)->prepare(); !ready) {
      EXPECT_EQ(ready.error().code, "unavailable") << spec.rung << ": " << ready.error().message;
      continue;
    }
    const auto seconds = (*task)->run(3);
    ASSERT_TRUE(seconds) << spec.rung;
    const auto verdict = (*task)->check();
    ASSERT_TRUE(verdict) << spec.rung;
    EXPECT_TRUE(verdict->correct) << spec.rung;
    std::printf("%s: %.1f TFLOP/s\n", spec.rung.c_str(), 3 * (*task)->work() / *seconds / 1e12);
  }
}

}  // namespace
}  // namespace perfcast::ai::gemm

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const auto device = perfcast::ai::gemm::cuda::open_device(); !device) {
    std::printf("skipped: %s\n", device.error().message.c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}
