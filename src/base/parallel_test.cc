#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <vector>

namespace perfcast {
namespace {

TEST(ParallelFor, CallsEachIndexOnceOnAnyNumberOfThreads) {
  for (const int threads : {-1, 0, 1, 2, 7, 100}) {
    std::vector<int> calls(50, 0);
    EXPECT_TRUE(parallel_for(calls.size(), threads, [&](size_t i) -> Status {
      ++calls[i];
      return {};
    }));
    EXPECT_EQ(calls, std::vector<int>(50, 1)) << threads << " threads";
  }
  EXPECT_TRUE(parallel_for(0, 4, [](size_t) -> Status { return Error{"never", "", "", ""}; }));
}

TEST(ParallelFor, TheLowestFailureWinsWhateverTheThreadsDo) {
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Status status = parallel_for(64, 4, [](size_t i) -> Status {
      if (i % 2 == 1) return Error{"odd-" + std::to_string(i), "", "", ""};
      return {};
    });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, "odd-1");
  }
}

TEST(ParallelFor, NothingIsBegunAfterAFailure) {
  std::atomic<int> calls = 0;
  const Status status = parallel_for(1000, 1, [&](size_t i) -> Status {
    ++calls;
    if (i == 3) return Error{"stop", "", "", ""};
    return {};
  });
  EXPECT_FALSE(status);
  EXPECT_EQ(calls, 4);
}

TEST(ParallelFor, RunningOutOfMemoryIsAnError) {
  const Status status = parallel_for(3, 2, [](size_t) -> Status { throw std::bad_alloc(); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "out-of-memory");
  EXPECT_EQ(status.error().kind, ErrorKind::kEnvironment);
}

}  // namespace
}  // namespace perfcast
