#include "service/http/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace perfcast::service {
namespace {

TEST(Workers, RunEveryTaskThatTheyTake) {
  std::atomic<int> count = 0;
  std::promise<void> done;
  Workers workers(2, 100);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(workers.post([&] {
      if (++count == 50) done.set_value();
    }));
  }
  ASSERT_EQ(done.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_EQ(workers.waiting(), 0U);
}

TEST(Workers, RefuseWhatWouldWaitTooLong) {
  std::promise<void> begun, may_end;
  Workers workers(1, 1);
  ASSERT_TRUE(workers.post([&] {
    begun.set_value();
    may_end.get_future().wait();
  }));
  begun.get_future().wait();
  EXPECT_TRUE(workers.post([] {}));
  EXPECT_FALSE(workers.post([] {}));
  EXPECT_EQ(workers.running(), 1U);
  may_end.set_value();
}

TEST(Workers, DropWhatWaitsAtTheEnd) {
  std::atomic<bool> ran = false;
  std::promise<void> begun, may_end;
  auto workers = std::make_unique<Workers>(1, 10);
  ASSERT_TRUE(workers->post([&] {
    begun.set_value();
    may_end.get_future().wait();
  }));
  begun.get_future().wait();
  ASSERT_TRUE(workers->post([&] { ran = true; }));
  std::thread ender([&] { workers.reset(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  may_end.set_value();
  ender.join();
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace perfcast::service
