#include "measure/watch/row_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

// One binary for all x86-64 machines, with the widest registers that the one at hand has. A sanitizer and clang get the
// plain form.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PERFCAST_WIDEST_LOOPS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PERFCAST_WIDEST_LOOPS
#endif

namespace perfcast::measure {
namespace {

constexpr float kMostZ = 40;
constexpr float kHalfWay = 0.6745f;  // a normal's median distance, in deviations

// log(x), x >= 1 and finite, to 1e-7: the library's would not be vectorised.
inline float log_above_one(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const auto shifted = bits - 0x3F3504F3u;  // so that the mantissa lies in [sqrt(1/2), sqrt(2))
  const auto exponent = static_cast<float>(static_cast<int32_t>(shifted) >> 23);
  const auto mantissa = std::bit_cast<float>((shifted & 0x007FFFFFu) + 0x3F3504F3u);
  const float s = (mantissa - 1) / (mantissa + 1);
  const float s2 = s * s;
  return exponent * 0.69314718f + 2 * s * (1 + s2 * (1.0f / 3 + s2 * (0.2f + s2 * (1.0f / 7 + s2 * (1.0f / 9)))));
}

// y = bias + x W for `rows` rows and 16 outputs at a time; a row's sums run over the inputs in their order.
template <size_t kRows>
inline __attribute__((always_inline)) void multiply_tile(size_t inputs, size_t stride, const float* x, size_t x_stride,
                                                         const float* weights, const float* bias, float* y) {
  float sums[kRows][kOutputTile];
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kOutputTile; ++c) sums[r][c] = bias[r * stride + c];
  }
  for (size_t k = 0; k < inputs; ++k) {
    const float* w = weights + k * stride;
    for (size_t r = 0; r < kRows; ++r) {
      const float value = x[r * x_stride + k];
      for (size_t c = 0; c < kOutputTile; ++c) sums[r][c] += value * w[c];
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kOutputTile; ++c) y[r * stride + c] = sums[r][c];
  }
}

}  // namespace

PERFCAST_WIDEST_LOOPS
void transform_row(size_t n, const double* values, const float* inverse_knee, const float* centre,
                   const float* inverse_scale, float* z) {
  for (size_t j = 0; j < n; ++j) {
    const auto x = static_cast<float>(values[j]);
    const float ratio = std::min(std::abs(x) * inverse_knee[j], 1e30f);
    const float y = std::copysign(log_above_one(1 + ratio), x);
    const float scaled = (y - centre[j]) * inverse_scale[j];
    // NaN in, NaN out: the logarithm works on bits.
    z[j] = values[j] == values[j] ? std::min(std::max(scaled, -kMostZ), kMostZ) : x;
  }
}

PERFCAST_WIDEST_LOOPS
void scale_row(size_t n, const float* e, const float* median, const float* inverse_deviation, float most, float* v) {
  for (size_t j = 0; j < n; ++j) {
    const float scaled = std::min(std::max((e[j] - median[j]) * inverse_deviation[j], -most), most);
    v[j] = e[j] == e[j] ? scaled : 0.0f;
  }
}

// w = M' v, M symmetric up to the scale of its columns: row by row, so that it vectorises and sums in one order.
PERFCAST_WIDEST_LOOPS
void multiply_square(size_t n, const float* m, const float* v, float* w) {
  for (size_t j = 0; j < n; ++j) w[j] = 0;
  for (size_t k = 0; k < n; ++k) {
    const float value = v[k];
    const float* row = m + k * n;
    for (size_t j = 0; j < n; ++j) w[j] += value * row[j];
  }
}

PERFCAST_WIDEST_LOOPS
void score_row(size_t n, const float* z, const float* median, const float* inverse, float* u) {
  for (size_t j = 0; j < n; ++j) u[j] = z[j] == z[j] ? (z[j] - median[j]) * inverse[j] : 0.0f;
}

PERFCAST_WIDEST_LOOPS
void adapt_row(size_t n, const float* z, float step, float least, float* median, float* deviation, float* inverse) {
  for (size_t j = 0; j < n; ++j) {
    const float difference = z[j] == z[j] ? z[j] - median[j] : 0.0f;
    const float known = z[j] == z[j] ? 1.0f : 0.0f;
    const float way = difference > 0 ? step : difference < 0 ? -step : 0.0f;
    const float wider = std::abs(difference) > kHalfWay * deviation[j] ? step : -step;
    median[j] += 1.25f * way * deviation[j];
    deviation[j] = std::max(deviation[j] * (1 + known * wider), least);
    inverse[j] = 1 / deviation[j];
  }
}

PERFCAST_WIDEST_LOOPS
void update_means(size_t n, const float* value, const MeanSteps& steps, float* short_mean, float* long_mean, float* now,
                  float* of_short, float* of_long) {
  for (size_t j = 0; j < n; ++j) {
    const float clipped = std::min(std::max(value[j], -steps.clip), steps.clip);
    short_mean[j] += steps.of_short * (clipped - short_mean[j]);
    long_mean[j] += steps.of_long * (clipped - long_mean[j]);
    now[j] = std::abs(value[j]);
    of_short[j] = std::abs(short_mean[j]);
    of_long[j] = std::abs(long_mean[j]);
  }
}

PERFCAST_WIDEST_LOOPS
void score_channel(size_t n, float least, const float* statistic, const float* bound, const float* inverse_beta,
                   float* most) {
  for (size_t j = 0; j < n; ++j) {
    const float above = statistic[j] - bound[j];
    const float surprise = above > 0 ? least + above * inverse_beta[j] : 0.0f;
    most[j] = std::max(most[j], surprise);
  }
}

// y holds the bias of each row and gets the sums.
PERFCAST_WIDEST_LOOPS
void multiply_rows(size_t rows, size_t inputs, size_t stride, const float* x, size_t x_stride, const float* weights,
                   float* y) {
  for (size_t column = 0; column < stride; column += kOutputTile) {
    size_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      float* at = y + r * stride + column;
      multiply_tile<4>(inputs, stride, x + r * x_stride, x_stride, weights + column, at, at);
    }
    for (; r < rows; ++r) {
      float* at = y + r * stride + column;
      multiply_tile<1>(inputs, stride, x + r * x_stride, x_stride, weights + column, at, at);
    }
  }
}

}  // namespace perfcast::measure
