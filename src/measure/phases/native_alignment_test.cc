#include "measure/phases/native_alignment.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/random.h"

namespace perfcast::measure {
namespace {

// Intervals of a million instructions of one piece of code each.
PhaseSeries series_of(const std::vector<uint16_t>& places, uint64_t bytes_of_interval = 0) {
  PhaseSeries series;
  series.keys = {"instructions", "sys_bytes_read"};
  for (const uint16_t place : places) {
    PhaseInterval& interval = series.intervals.emplace_back();
    interval.counts = {1000000, bytes_of_interval};
    interval.code = {{place, 1000000}};
  }
  return series;
}

void add_samples(CodeCourse& course, uint16_t place, size_t count) {
  course.places.insert(course.places.end(), count, place);
}

double sum_of(const std::vector<double>& values, size_t from, size_t count) {
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(from),
                         values.begin() + static_cast<std::ptrdiff_t>(from + count), 0.0);
}

TEST(NativeAlignment, GivesEachPieceOfCodeItsTime) {
  std::vector<uint16_t> places(20, 3);
  places.insert(places.end(), 20, 7);
  CodeCourse course;
  course.period_s = 0.001;
  add_samples(course, 3, 900);
  add_samples(course, 7, 100);
  const auto aligned = align_native(series_of(places), course);
  ASSERT_TRUE(aligned) << to_text(aligned.error());
  EXPECT_TRUE(aligned->by_order);
  EXPECT_EQ(aligned->same_code_ratio, 1);
  EXPECT_GT(aligned->agreement, 0.9);
  EXPECT_NEAR(sum_of(aligned->interval_s, 0, 20), 0.9, 0.02);
  EXPECT_NEAR(sum_of(aligned->interval_s, 20, 20), 0.1, 0.02);
  EXPECT_NEAR(sum_of(aligned->interval_s, 0, 40), 1.0, 1e-9);
}

// The same code is five times slower the second time: only the order tells.
TEST(NativeAlignment, TellsVisitsToTheSameCodeApartByTheirOrder) {
  std::vector<uint16_t> places(30, 3);
  places.insert(places.end(), 30, 7);
  places.insert(places.end(), 30, 3);
  CodeCourse course;
  course.period_s = 0.001;
  add_samples(course, 3, 200);
  add_samples(course, 7, 300);
  add_samples(course, 3, 1000);
  const auto aligned = align_native(series_of(places), course);
  ASSERT_TRUE(aligned);
  EXPECT_NEAR(sum_of(aligned->interval_s, 0, 30), 0.2, 0.05);
  EXPECT_NEAR(sum_of(aligned->interval_s, 30, 30), 0.3, 0.05);
  EXPECT_NEAR(sum_of(aligned->interval_s, 60, 30), 1.0, 0.06);
}

// One piece of code throughout, slow at first: what was read by then says so.
TEST(NativeAlignment, GoesByWhatWasReadWhereTheCodeIsTheSame) {
  const PhaseSeries series = series_of(std::vector<uint16_t>(40, 3), 10000);
  CodeCourse course;
  course.period_s = 0.001;
  add_samples(course, 3, 1000);
  for (size_t i = 0; i <= 20; ++i) course.io.push_back({40 * i, 10000.0 * static_cast<double>(i)});
  for (size_t i = 1; i <= 20; ++i) course.io.push_back({800 + 10 * i, 200000 + 10000.0 * static_cast<double>(i)});
  const auto aligned = align_native(series, course);
  ASSERT_TRUE(aligned);
  EXPECT_NEAR(aligned->io_ratio, 1, 0.01);
  EXPECT_NEAR(sum_of(aligned->interval_s, 0, 20), 0.8, 0.06);
}

TEST(NativeAlignment, RefusesWhatIsNotTheSameProgram) {
  CodeCourse course;
  add_samples(course, 3, 10);
  const auto few = align_native(series_of({3, 3, 3, 3}), course);
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().code, "no-native-samples");
  add_samples(course, 9, 300);
  const auto other = align_native(series_of({3, 3, 3, 3}), course);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "other-code");
}

// Whatever the samples: each interval has a time of at least 0, all together the run's.
TEST(NativeAlignment, TimesAddUp) {
  Random random(5);
  for (int round = 0; round < 30; ++round) {
    std::vector<uint16_t> places;
    places.reserve(50);
    for (int i = 0; i < 50; ++i) places.push_back(static_cast<uint16_t>(1 + random.below(6)));
    CodeCourse course;
    course.period_s = 1;
    for (int i = 0; i < 400; ++i) course.places.push_back(static_cast<uint16_t>(1 + random.below(7)));
    const auto aligned = align_native(series_of(places), course);
    ASSERT_TRUE(aligned);
    for (const double s : aligned->interval_s) EXPECT_GE(s, 0);
    EXPECT_NEAR(sum_of(aligned->interval_s, 0, 50), 400, 1e-6);
  }
}

}  // namespace
}  // namespace perfcast::measure
