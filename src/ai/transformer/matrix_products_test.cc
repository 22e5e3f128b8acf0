#include "ai/transformer/matrix_products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace perfcast::ai {
namespace {

struct Drawn {
  PackedMatrix matrix;
  std::vector<float> x;
  int64_t x_stride;

  Drawn(int64_t outputs, int64_t inputs, int64_t rows, Precision precision) : x_stride(inputs + 16) {
    auto packed =
        PackedMatrix::pack(outputs, inputs, precision, 1, [](int64_t output, std::span<float> values) -> Status {
          Random random(static_cast<uint64_t>(output) + 1);
          for (float& value : values) value = static_cast<float>(random.normal());
          return {};
        });
    EXPECT_TRUE(packed);
    matrix = std::move(*packed);
    Random random(99);
    x.resize(static_cast<size_t>(padded_rows(rows) * x_stride));
    for (float& value : x) value = static_cast<float>(random.normal());
  }
  float input(int64_t row, int64_t i) const { return x[static_cast<size_t>(row * x_stride + i)]; }
};

std::vector<float> product(const Drawn& drawn, int64_t rows, int threads, const TransformerKernels& kernels) {
  ThreadTeam team(threads);
  MatrixProducts products(team, kernels, rows, drawn.matrix.inputs());
  const int64_t stride = drawn.matrix.padded_outputs() + 64;
  std::vector<float> out(static_cast<size_t>(padded_rows(rows) * stride));
  const auto status = products.multiply(drawn.matrix, drawn.x.data(), drawn.x_stride, rows, out.data(), stride);
  EXPECT_TRUE(status);
  return out;
}

TEST(MatrixProducts, AreSumsWithinTheRoundingOfBytes) {
  for (const Precision precision : {Precision::kFp32, Precision::kInt8}) {
    for (const auto& [outputs, inputs] : {std::pair<int64_t, int64_t>(200, 112), {64, 256}, {1090, 48}}) {
      for (const int64_t rows : {int64_t{1}, int64_t{3}, int64_t{8}, int64_t{9}, int64_t{37}}) {
        const Drawn drawn(outputs, inputs, rows, precision);
        for (const TransformerKernels* kernels : transformer_kernels()) {
          const auto out = product(drawn, rows, 1, *kernels);
          const int64_t stride = drawn.matrix.padded_outputs() + 64;
          for (int64_t row = 0; row < rows; ++row) {
            float largest = 0;
            for (int64_t i = 0; i < inputs; ++i) largest = std::max(largest, std::abs(drawn.input(row, i)));
            for (int64_t output = row % 5; output < outputs; output += 13) {
              double sum = 0, magnitude = 0;
              for (int64_t i = 0; i < inputs; ++i) {
                sum += static_cast<double>(drawn.matrix.weight(output, i)) * drawn.input(row, i);
                magnitude += std::abs(static_cast<double>(drawn.matrix.weight(output, i)));
              }
              // Inputs are off by half a step at most, and all of it may add up.
              const double bound = precision == Precision::kInt8 ? 0.501 * largest / 127 * magnitude : 2e-4;
              EXPECT_NEAR(out[static_cast<size_t>(row * stride + output)], sum, bound) << kernels->isa << rows;
            }
          }
        }
      }
    }
  }
}

TEST(MatrixProducts, BitsDoNotDependOnThreads) {
  for (const Precision precision : {Precision::kFp32, Precision::kInt8}) {
    for (const int64_t rows : {int64_t{2}, int64_t{33}}) {
      const Drawn drawn(1500, 336, rows, precision);
      const auto expected = product(drawn, rows, 1, *transformer_kernels().front());
      EXPECT_EQ(product(drawn, rows, 2, *transformer_kernels().front()), expected);
      EXPECT_EQ(product(drawn, rows, 3, *transformer_kernels().front()), expected);
    }
  }
}

// Sums of bytes are exact, so that few rows and many agree to the bit.
TEST(MatrixProducts, ManyRowsInBytesAreTheBitsOfFew) {
  const Drawn drawn(130, 208, 20, Precision::kInt8);
  const auto many = product(drawn, 20, 1, *transformer_kernels().front());
  const auto few = product(drawn, 8, 1, *transformer_kernels().front());
  const auto stride = static_cast<size_t>(drawn.matrix.padded_outputs() + 64);
  for (size_t row = 0; row < 8; ++row) {
    for (size_t output = 0; output < 130; ++output) EXPECT_EQ(many[row * stride + output], few[row * stride + output]);
  }
}

TEST(MatrixProducts, ArePreparedForAllRowsAndStayTheSame) {
  for (const Precision precision : {Precision::kFp32, Precision::kInt8}) {
    const Drawn drawn(1090, 48, 37, precision);
    const auto expected = product(drawn, 37, 1, *transformer_kernels().front());
    ThreadTeam team(1);
    MatrixProducts products(team, *transformer_kernels().front(), 37, drawn.matrix.inputs());
    const int64_t stride = drawn.matrix.padded_outputs() + 64;
    ASSERT_TRUE(products.prepare(drawn.matrix, drawn.x_stride, 8, stride));  // of few rows there is nothing to do
    ASSERT_TRUE(products.prepare(drawn.matrix, drawn.x_stride, 37, stride));
    std::vector<float> out(expected.size());
    ASSERT_TRUE(products.multiply(drawn.matrix, drawn.x.data(), drawn.x_stride, 37, out.data(), stride));
    EXPECT_EQ(out, expected);
  }
}

}  // namespace
}  // namespace perfcast::ai
