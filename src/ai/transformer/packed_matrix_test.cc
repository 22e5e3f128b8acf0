#include "ai/transformer/packed_matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace perfcast::ai {
namespace {

float weight_of(int64_t output, int64_t input) {
  return static_cast<float>((output * 31 + input * 17) % 101 - 50) / 7.0f;
}

Result<PackedMatrix> packed(int64_t outputs, int64_t inputs, Precision precision) {
  return PackedMatrix::pack(outputs, inputs, precision, 2, [](int64_t output, std::span<float> values) -> Status {
    for (size_t i = 0; i < values.size(); ++i) values[i] = weight_of(output, static_cast<int64_t>(i));
    return {};
  });
}

TEST(PackedMatrix, HoldsEachWeightAndZerosBehind) {
  const auto matrix = packed(70, 37, Precision::kFp32);
  ASSERT_TRUE(matrix);
  EXPECT_EQ(matrix->panels(), 2);
  EXPECT_EQ(matrix->padded_outputs(), 128);
  EXPECT_EQ(matrix->padded_inputs(), 48);
  EXPECT_EQ(matrix->bytes(), 128.0 * 48 * 4);
  std::vector<float> row(37);
  for (const int64_t output : {int64_t{0}, int64_t{63}, int64_t{64}, int64_t{69}}) {
    matrix->copy_row(output, row);
    for (int64_t input = 0; input < 37; ++input) {
      EXPECT_EQ(matrix->weight(output, input), weight_of(output, input));
      EXPECT_EQ(row[static_cast<size_t>(input)], weight_of(output, input));
    }
  }
  EXPECT_EQ(matrix->floats(1)[36 * 64 + 6], 0);
  EXPECT_EQ(matrix->floats(1)[37 * 64 + 5], 0);
}

TEST(PackedMatrix, BytesAreOffByHalfAStepAtMost) {
  const auto matrix = packed(70, 37, Precision::kInt8);
  ASSERT_TRUE(matrix);
  EXPECT_EQ(matrix->padded_inputs(), 64);
  std::vector<float> row(37);
  for (int64_t output = 0; output < 70; ++output) {
    float largest = 0;
    for (int64_t input = 0; input < 37; ++input) largest = std::max(largest, std::abs(weight_of(output, input)));
    matrix->copy_row(output, row);
    int32_t sum = 0;
    for (int64_t input = 0; input < 37; ++input) {
      EXPECT_NEAR(matrix->weight(output, input), weight_of(output, input), 0.5001f * largest / 127);
      EXPECT_EQ(row[static_cast<size_t>(input)], matrix->weight(output, input));
      sum += static_cast<int32_t>(std::lround(matrix->weight(output, input) / (largest / 127)));
    }
    EXPECT_EQ(matrix->scales(output / 64).corrections[output % 64], 128 * sum);
  }
}

TEST(PackedMatrix, ErrorsOfRowsComeBack) {
  const auto matrix = PackedMatrix::pack(200, 16, Precision::kFp32, 3, [](int64_t output, std::span<float>) -> Status {
    if (output < 130) return {};
    return Error{"no-row", "row " + std::to_string(output), "", ""};
  });
  ASSERT_FALSE(matrix);
  EXPECT_EQ(matrix.error().message, "row 130");
}

}  // namespace
}  // namespace perfcast::ai
