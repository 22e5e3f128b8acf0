#include "measure/diagnose/prove/thread_curve.h"

#include <gtest/gtest.h>

namespace perfcast::measure {
namespace {

TEST(ThreadCounts, AreDoubledUpToTheCpus) {
  EXPECT_EQ(*parse_thread_counts("auto", 1), (std::vector<int>{1}));
  EXPECT_EQ(*parse_thread_counts("auto", 2), (std::vector<int>{1, 2}));
  EXPECT_EQ(*parse_thread_counts("auto", 6), (std::vector<int>{1, 2, 4, 6}));
  EXPECT_EQ(*parse_thread_counts("8, 1,2,8", 2), (std::vector<int>{1, 2, 8}));
}

TEST(ThreadCounts, AreWholeNumbers) {
  for (const char* text : {"", "0", "1,,2", "two", "1.5", "-1", "1025", "2x"}) {
    const auto counts = parse_thread_counts(text, 2);
    ASSERT_FALSE(counts) << text;
    EXPECT_EQ(counts.error().code, "bad-usage");
    EXPECT_EQ(counts.error().kind, ErrorKind::kUsage);
  }
}

// Sleeps for a fifth of its work, and in as many processes as it is told for the rest.
ThreadCurveRequest curve_of(const std::string& count) {
  ThreadCurveRequest request;
  request.command = {"sh", "-c",
                     "n=" + count +
                         "; sleep 0.1; i=0; while [ $i -lt $n ]; do sleep $(echo $n | awk '{print 0.4 / $1}') & "
                         "i=$((i + 1)); done; wait"};
  request.threads = {1, 2, 4};
  request.cpus_count = 4;
  request.budget_s = 2.5;
  request.run_s = 0.4;
  return request;
}

TEST(ThreadCurve, FindsTheSerialShareByThePlaceholder) {
  const auto curve = measure_thread_curve(curve_of("{threads}"));
  ASSERT_TRUE(curve) << to_text(curve.error());
  EXPECT_EQ(curve->how, "{threads}");
  EXPECT_TRUE(curve->is_obeyed);
  ASSERT_EQ(curve->points.size(), 3U);
  EXPECT_GE(curve->points[0].wall_s.size(), 2U);
  EXPECT_EQ(curve->points[0].speed_up_ratio, 1);
  EXPECT_GT(curve->points[2].speed_up_ratio, 1.6);
  EXPECT_EQ(curve->fastest(), &curve->points[2]);
  ASSERT_TRUE(curve->serial);
  // 0.2, and what starting a process takes.
  EXPECT_GT(curve->serial->serial_ratio, 0.1);
  EXPECT_LT(curve->serial->serial_ratio, 0.5);
}

TEST(ThreadCurve, GoesByTheEnvironmentElsewhere) {
  ThreadCurveRequest request = curve_of("$OMP_NUM_THREADS");
  request.threads = {1, 4};
  request.budget_s = 2;
  const auto curve = measure_thread_curve(request);
  ASSERT_TRUE(curve) << to_text(curve.error());
  EXPECT_TRUE(curve->how.starts_with("OMP_NUM_THREADS, "));
  EXPECT_TRUE(curve->is_obeyed);
  EXPECT_GT(curve->points[1].speed_up_ratio, 1.6);
}

TEST(ThreadCurve, SaysThatAProgramDoesNotObey) {
  ThreadCurveRequest request = curve_of("1");
  request.threads = {1, 2};
  request.command = {"sleep", "0.1"};
  request.budget_s = 1;
  request.run_s = 0.1;
  const auto curve = measure_thread_curve(request);
  ASSERT_TRUE(curve) << to_text(curve.error());
  EXPECT_FALSE(curve->is_obeyed);
  EXPECT_FALSE(curve->serial);
  request.run_s = 10;
  EXPECT_EQ(measure_thread_curve(request).error().code, "no-time");
  request.run_s = 0.1;
  request.command = {"false"};
  EXPECT_EQ(measure_thread_curve(request).error().code, "program-failed");
}

}  // namespace
}  // namespace perfcast::measure
