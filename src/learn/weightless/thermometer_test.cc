#include "learn/weightless/thermometer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast {
namespace {

std::vector<float> list_of(std::span<const float> values) { return {values.begin(), values.end()}; }

TEST(Thermometer, PutsThresholdsWhereItsKindSays) {
  // 0 to 8, in any order: the distributive thresholds are sorted[9 t / 4], t = 1 to 3.
  const std::vector<float> values = {4, 0, 8, 2, 6, 1, 7, 3, 5};
  const auto equal = Thermometer::fit(values, 1, 3, ThermometerKind::kDistributive);
  EXPECT_EQ(list_of(equal->thresholds(0)), (std::vector<float>{2, 4, 6}));
  const auto linear = Thermometer::fit(values, 1, 3, ThermometerKind::kLinear);
  EXPECT_EQ(list_of(linear->thresholds(0)), (std::vector<float>{2, 4, 6}));
  const auto normal = Thermometer::fit(values, 1, 3, ThermometerKind::kGaussian);
  // 4 plus the quartiles of a normal distribution of deviation sqrt(7.5).
  ASSERT_EQ(normal->bits(), 3);
  EXPECT_NEAR(normal->threshold_of(0), 4 - 0.6744898 * std::sqrt(7.5), 1e-5);
  EXPECT_EQ(normal->threshold_of(1), 4);
}

TEST(Thermometer, KeepsNoBitThatNeverVaries) {
  // The second input is constant, the third has two values alone.
  const std::vector<float> rows = {1, 5, 0, 2, 5, 1, 3, 5, 1, 4, 5, 1};
  const auto made = Thermometer::fit(rows, 3, 7, ThermometerKind::kDistributive);
  EXPECT_EQ(made->inputs(), 3);
  EXPECT_TRUE(made->thresholds(1).empty());
  EXPECT_EQ(list_of(made->thresholds(2)), std::vector<float>{0});
  EXPECT_EQ(made->thresholds(0).size(), 3);  // between four values
}

TEST(Thermometer, EncodesByOrder) {
  const auto made = Thermometer::from_thresholds({{1, 2, 3}, {0}});
  std::vector<uint8_t> bits(4);
  made->encode(std::vector<float>{2.5, -1}, bits);
  EXPECT_EQ(bits, (std::vector<uint8_t>{1, 1, 0, 0}));
  made->encode(std::vector<float>{1, 1}, bits);  // not above its own threshold
  EXPECT_EQ(bits, (std::vector<uint8_t>{0, 0, 0, 1}));
  made->encode(std::vector<float>{NAN, INFINITY}, bits);
  EXPECT_EQ(bits, (std::vector<uint8_t>{0, 0, 0, 1}));
}

TEST(Thermometer, RefusesWhatItCanNotEncode) {
  const auto code = [](const auto& made) { return made ? std::string() : made.error().code; };
  EXPECT_EQ(code(Thermometer::fit({}, 1, 3, ThermometerKind::kLinear)), "bad-input");
  const std::vector<float> same = {1, 1}, bad = {1, NAN};
  EXPECT_EQ(code(Thermometer::fit(same, 1, 3, ThermometerKind::kLinear)), "no-variation");
  EXPECT_EQ(code(Thermometer::fit(bad, 1, 3, ThermometerKind::kLinear)), "bad-input");
  EXPECT_EQ(code(Thermometer::fit(bad, 1, 0, ThermometerKind::kLinear)), "bad-input");
  EXPECT_EQ(code(Thermometer::from_thresholds({{2, 1}})), "bad-input");
  EXPECT_EQ(code(parse_thermometer_kind("log")), "bad-config");
  EXPECT_EQ(*parse_thermometer_kind("gaussian"), ThermometerKind::kGaussian);
}

TEST(Thermometer, RoundsThresholdsThatAreShort) {
  EXPECT_EQ(short_threshold(1.0f), 1.0f);
  EXPECT_EQ(short_threshold(0), 0);
  EXPECT_EQ(short_threshold(-1.00390625f), -1.0078125f);  // half way: away from 0
  EXPECT_NEAR(short_threshold(3.14159f), 3.14159, 0.01);
  // Most values are one, and none of 16 bits: it stays the least threshold, from which larger values are told.
  std::vector<float> many(40, -0.33333334f);
  many.insert(many.end(), {1.0f, 2.0f, 3.0f});
  const auto parted = Thermometer::fit(many, 1, 8, ThermometerKind::kDistributive, true);
  ASSERT_TRUE(parted);
  ASSERT_FALSE(parted->thresholds(0).empty());
  EXPECT_GE(parted->thresholds(0)[0], -0.33333334f);
  EXPECT_LT(parted->thresholds(0)[0], 1);
  EXPECT_EQ(short_threshold(parted->thresholds(0)[0]), parted->thresholds(0)[0]);
  const std::vector<float> values = {1.0f, 1.001f, 2.0f, 3.0f, 3.001f, 4.0f};
  const auto made = Thermometer::fit(values, 1, 5, ThermometerKind::kDistributive, true);
  ASSERT_TRUE(made);
  // Each parts the values as the number that it stands for.
  EXPECT_EQ(std::vector<float>(made->thresholds(0).begin(), made->thresholds(0).end()),
            (std::vector<float>{1.0078125f, 2, 3, 3.015625f}));
}

}  // namespace
}  // namespace perfcast
