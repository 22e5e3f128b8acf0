#include "profile/collect/session/partly_seen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast {
namespace {

using testing::HasSubstr;

CourseInterval interval(double system_ratio, double faults, double resident_mib, double running = 1) {
  return {.length_s = 1,
          .running_count = running,
          .system_ratio = system_ratio,
          .page_faults_minor_count = faults,
          .resident_bytes = resident_mib * (1 << 20)};
}

TEST(PartlySeen, ARestThatIsAsTheBeginning) {
  const std::vector<CourseInterval> course(10, interval(0.1, 50, 20));
  const CourseComparison found = compare_course(course, 0.3);
  EXPECT_NEAR(found.unlike, 0, 1e-12);
  EXPECT_THAT(found.text, HasSubstr("10% and 10% in the kernel, 50 and 50 page faults/s, 20 and 20 MiB"));
}

TEST(PartlySeen, WhatDiffersMostDecides) {
  std::vector<CourseInterval> course(10, interval(0.1, 0, 20));
  for (size_t i = 5; i < 10; ++i) course[i] = interval(0.15, 0, 20);
  EXPECT_NEAR(compare_course(course, 0.5).unlike, 0.25, 1e-12);
  for (size_t i = 5; i < 10; ++i) course[i] = interval(0.15, 0, 40);
  EXPECT_NEAR(compare_course(course, 0.5).unlike, 1.0 / 3, 1e-12);
  for (size_t i = 5; i < 10; ++i) course[i] = interval(0.1, 1800, 20);
  EXPECT_NEAR(compare_course(course, 0.5).unlike, 1, 1e-12);
  for (size_t i = 5; i < 10; ++i) course[i] = interval(0.1, 0, 20, 2);
  EXPECT_NEAR(compare_course(course, 1.0 / 3).unlike, 0.5, 1e-12);
}

TEST(PartlySeen, AStartIsNoDifference) {
  std::vector<CourseInterval> course(20, interval(0, 0, 20));
  course[0] = interval(0.5, 50000, 2);
  EXPECT_NEAR(compare_course(course, 0.3).unlike, 0, 1e-12);
  // What only comes later is.
  course[0] = interval(0, 0, 20);
  for (size_t i = 10; i < 20; ++i) course[i] = interval(0, 1800, 20);
  EXPECT_GT(compare_course(course, 0.3).unlike, 0.8);
}

TEST(PartlySeen, WithoutACourseNobodyKnows) {
  EXPECT_EQ(compare_course({}, 0.2).unlike, 0.5);
  EXPECT_EQ(compare_course({interval(0, 0, 1), interval(0, 0, 1), interval(0, 0, 1)}, 0.3).unlike, 0.5);
  EXPECT_EQ(compare_course(std::vector<CourseInterval>(10, interval(0, 0, 1, 0)), 0.3).unlike, 0.5);
  EXPECT_THAT(compare_course({}, 0.2).text, HasSubstr("does not tell"));
}

}  // namespace
}  // namespace perfcast
