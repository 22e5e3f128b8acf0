#include "ai/transformer/kernel/transformer_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"

namespace perfcast::ai {
namespace {

std::vector<float> drawn(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

TEST(TransformerKernels, ProductsAreSums) {
  for (const TransformerKernels* kernels : transformer_kernels()) {
    for (const int64_t columns : {int64_t{16}, int64_t{48}, int64_t{64}, int64_t{80}, int64_t{128}}) {
      const int64_t depth = 37;
      const auto panel = drawn(static_cast<size_t>(depth) * static_cast<size_t>(columns), 1),
                 x = drawn(size_t{4} * 40, 2);
      for (int64_t rows = 1; rows <= kTileRows; ++rows) {
        std::vector<float> out(static_cast<size_t>(4 * (columns + 3)), -7);
        kernels->product(panel.data(), columns, depth, columns, x.data(), 40, rows, out.data(), columns + 3);
        for (int64_t r = 0; r < 4; ++r) {
          for (int64_t c = 0; c < columns + 3; ++c) {
            double sum = r < rows && c < columns ? 0 : -7;
            if (r < rows && c < columns) {
              for (int64_t d = 0; d < depth; ++d) {
                sum += static_cast<double>(x[static_cast<size_t>(r * 40 + d)]) *
                       static_cast<double>(panel[static_cast<size_t>(d * columns + c)]);
              }
            }
            EXPECT_NEAR(out[static_cast<size_t>(r * (columns + 3) + c)], sum, 1e-5) << kernels->isa;
          }
        }
      }
    }
  }
}

// The largest sums that bytes can come to, and drawn ones: all exact.
TEST(TransformerKernels, ProductsOfBytesAreExact) {
  const int64_t depth = 192;
  std::vector<float> scales(64);
  std::vector<int32_t> corrections(64);
  for (size_t c = 0; c < 64; ++c) {
    scales[c] = static_cast<float>(c + 1);
    corrections[c] = static_cast<int32_t>(c) * 1000 - 7;
  }
  Random random(3);
  for (const bool extreme : {true, false}) {
    std::vector<int8_t> panel(static_cast<size_t>(depth * 64));
    std::vector<uint8_t> x(static_cast<size_t>(depth * 4));
    for (int8_t& value : panel) value = extreme ? int8_t{127} : static_cast<int8_t>(random.below(255));
    for (uint8_t& value : x) value = extreme ? uint8_t{255} : static_cast<uint8_t>(random.below(256));
    const std::vector<float> row_scales = {1, 0.5f, 2, 4};
    for (const TransformerKernels* kernels : transformer_kernels()) {
      for (int64_t rows = 1; rows <= kTileRows; ++rows) {
        std::vector<float> out(size_t{4} * 64, -7), again(64);
        kernels->byte_product(panel.data(), depth, {corrections.data(), scales.data()}, x.data(), depth,
                              row_scales.data(), rows, out.data(), 64);
        for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
          std::vector<int32_t> sums(64, 0);
          for (size_t c = 0; c < 64; ++c) {
            for (size_t d = 0; d < static_cast<size_t>(depth); ++d) {
              sums[c] += x[r * static_cast<size_t>(depth) + d] * panel[(d / 4 * 64 + c) * 4 + d % 4];
            }
            EXPECT_EQ(out[r * 64 + c], static_cast<float>(sums[c] - corrections[c]) * scales[c] * row_scales[r])
                << kernels->isa;
          }
          kernels->scale_sums(sums.data(), 64, {corrections.data(), scales.data()}, row_scales[r], again.data());
          EXPECT_TRUE(std::equal(again.begin(), again.end(), out.begin() + static_cast<std::ptrdiff_t>(r * 64)));
        }
        EXPECT_EQ(rows == 4 || out[static_cast<size_t>(rows) * 64] == -7, true);
      }
    }
  }
}

TEST(TransformerKernels, BytesAreTheNearestSteps) {
  const auto x = drawn(112, 4);
  float largest = 0;
  for (const float value : x) largest = std::max(largest, std::abs(value));
  for (const TransformerKernels* kernels : transformer_kernels()) {
    std::vector<uint8_t> bytes(112);
    const float step = kernels->quantise(x.data(), 112, bytes.data());
    EXPECT_FLOAT_EQ(step, largest / 127);
    for (size_t i = 0; i < x.size(); ++i) {
      const float back = static_cast<float>(bytes[i] - kByteZero) * step;
      EXPECT_LE(std::abs(back - x[i]), 0.5001f * step) << kernels->isa;
      EXPECT_GE(bytes[i], 1);
    }
    const std::vector<float> zeros(16, 0.0f);
    EXPECT_EQ(kernels->quantise(zeros.data(), 16, bytes.data()), 0.0f);
    EXPECT_EQ(bytes[7], kByteZero);
  }
}

TEST(TransformerKernels, RowsAreNormedGatedTurnedAndSoftened) {
  const auto x = drawn(80, 5), y = drawn(80, 6);
  for (const TransformerKernels* kernels : transformer_kernels()) {
    std::vector<float> out(80);
    kernels->rms_norm(x.data(), y.data(), 80, 1e-3f, out.data());
    const double squares = std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
    for (size_t i = 0; i < 80; ++i) EXPECT_NEAR(out[i], x[i] / std::sqrt(squares / 80 + 1e-3) * y[i], 1e-5);

    auto gates = x;
    gates[3] = 200;
    gates[4] = -200;
    kernels->gate(gates.data(), y.data(), 80, out.data());
    for (size_t i = 0; i < 80; ++i) {
      const double expected = gates[i] / (1 + std::exp(-static_cast<double>(gates[i]))) * y[i];
      EXPECT_NEAR(out[i], expected, 1e-6 * std::max(1.0, std::abs(expected))) << kernels->isa;
    }

    auto sum = x;
    kernels->add(sum.data(), y.data(), 79);
    EXPECT_EQ(sum[78], x[78] + y[78]);
    EXPECT_EQ(sum[79], x[79]);
    kernels->multiply(sum.data(), 79, 2);
    EXPECT_EQ(sum[78], 2 * (x[78] + y[78]));
    EXPECT_EQ(sum[79], x[79]);

    for (const int64_t half : {int64_t{8}, int64_t{16}, int64_t{24}, int64_t{40}}) {
      auto head = x;
      const auto cosines = drawn(40, 7), sines = drawn(40, 8);
      kernels->rotate(head.data(), cosines.data(), sines.data(), half);
      for (size_t i = 0; i < static_cast<size_t>(half); ++i) {
        const size_t other = i + static_cast<size_t>(half);
        EXPECT_NEAR(head[i], x[i] * cosines[i] - x[other] * sines[i], 1e-5);
        EXPECT_NEAR(head[other], x[other] * cosines[i] + x[i] * sines[i], 1e-5);
      }
    }

    for (const int64_t count : {int64_t{1}, int64_t{15}, int64_t{16}, int64_t{63}, int64_t{64}}) {
      auto scores = x;
      for (float& score : scores) score *= 50;
      const auto before = scores;
      const float share = kernels->soften(scores.data(), count, 64, 0.25f);
      const float largest = *std::max_element(before.begin(), before.begin() + count);
      double all = 0;
      for (size_t i = 0; i < 64; ++i) {
        const double expected = i < static_cast<size_t>(count) ? std::exp((before[i] - largest) * 0.25) : 0;
        EXPECT_NEAR(scores[i], expected, 1e-6) << kernels->isa;
        all += expected;
      }
      EXPECT_NEAR(share, 1 / all, 1e-6);
    }
  }
}

TEST(TransformerKernels, TheLargestIsTheFirstOfItsEquals) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNone = std::numeric_limits<float>::quiet_NaN();
  for (const TransformerKernels* kernels : transformer_kernels()) {
    const auto first = [&](const std::vector<float>& values) {
      return kernels->first_largest(values.data(), static_cast<int64_t>(values.size()));
    };
    for (const size_t place : {size_t{0}, size_t{17}, size_t{255}, size_t{256}, size_t{900}, size_t{998}}) {
      auto values = drawn(999, 9);
      values[place] = 50;
      values[998] = 50;
      values[3] = place == 3 ? 50 : kNone;
      EXPECT_EQ(first(values), static_cast<int64_t>(place)) << kernels->isa;
    }
    EXPECT_EQ(first({kNone, -kInfinity, kNone}), 1);
    EXPECT_EQ(first({kNone, kNone}), 0);
    EXPECT_EQ(first({-3}), 0);
  }
}

}  // namespace
}  // namespace perfcast::ai
