#include "base/significant.h"

#include <gtest/gtest.h>

#include "base/unknown.h"

namespace perfcast {
namespace {

TEST(Significant, RoundsAndNeverWritesAnExponent) {
  EXPECT_EQ(significant(1178, 3), "1180");
  EXPECT_EQ(significant(999.6, 3), "1000");
  EXPECT_EQ(significant(-12345678, 2), "-12000000");
  EXPECT_EQ(significant(0.0000123, 3), "0.0000123");
  EXPECT_EQ(significant(2.5, 3), "2.5");
  EXPECT_EQ(significant(2.004, 3), "2");
  EXPECT_EQ(significant(0.09996, 3), "0.1");
  EXPECT_EQ(significant(551.4, 3), "551");
  EXPECT_EQ(significant(0, 3), "0");
  EXPECT_EQ(significant(kUnknown, 3), "-");
  EXPECT_EQ(significant(9.9e14, 3), "990000000000000");
  EXPECT_EQ(significant(5e300, 3), "5e+300");
}

}  // namespace
}  // namespace perfcast
