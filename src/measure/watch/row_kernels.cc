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
constexpr float kMostOfMean = 12;  // of a value, from the mean that it enters
constexpr float kShort = 1.0f / 8, kLong = 1.0f / 40, kSteps = 1.0f / 24;
constexpr float kLeastStep = 0.02f;  // in z: less is none

inline float within(float value, float most) { return std::min(std::max(value, -most), most); }

// log(x), x > 0, finite and no denormal, to 1e-7: the library's would not be vectorised.
inline float log_of(float x) {
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
    const float y = std::copysign(log_of(1 + ratio), x);
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
void follow_past(size_t n, const float* z, float reference_step, const PastRow& past, const PastStatistics& to) {
  float* const last = past.last;
  float* const short_mean = past.short_mean;
  float* const long_mean = past.long_mean;
  float* const reference = past.reference;
  float* const step = past.step;
  for (size_t j = 0; j < n; ++j) {
    const bool known = z[j] == z[j];
    const bool begun = last[j] == last[j];
    const float from_short = begun ? short_mean[j] : z[j];
    const float from_long = begun ? long_mean[j] : z[j];
    const float from_reference = begun ? reference[j] : z[j];
    const float jump = z[j] - from_short;
    const float mean = known ? from_short + kShort * within(jump, kMostOfMean) : from_short;
    const float slow = known ? from_long + kLong * within(z[j] - from_long, kMostOfMean) : from_long;
    const float size = known && begun ? std::min(std::abs(z[j] - last[j]), kMostOfMean) : step[j];
    const float usual = from_reference + reference_step * (mean - from_reference);
    const float steps = step[j] + kSteps * (size - step[j]);
    last[j] = known ? z[j] : last[j];
    short_mean[j] = mean;
    long_mean[j] = slow;
    reference[j] = usual;
    step[j] = steps;
    to.value[j] = z[j];
    to.mean[j] = known ? mean : z[j];
    to.jump[j] = jump;
    to.short_shift[j] = known ? mean - usual : z[j];
    to.long_shift[j] = known ? slow - usual : z[j];
    const float variation = log_of(steps + kLeastStep);
    to.variation[j] = known ? variation : z[j];
  }
}

PERFCAST_WIDEST_LOOPS
void leave_range(size_t n, const float* z, const float* mean, const float* low, const float* high, float* above,
                 float* below, float* mean_above, float* mean_below) {
  for (size_t j = 0; j < n; ++j) {
    above[j] = z[j] - high[j];
    below[j] = low[j] - z[j];
    mean_above[j] = mean[j] - high[j];
    mean_below[j] = low[j] - mean[j];
  }
}

PERFCAST_WIDEST_LOOPS
void follow_means(size_t n, const float* w, float* short_mean, float* long_mean) {
  for (size_t j = 0; j < n; ++j) {
    const bool known = w[j] == w[j];
    const float value = known ? within(w[j], kMostOfMean) : 0;
    short_mean[j] += known ? kShort * (value - short_mean[j]) : 0;
    long_mean[j] += known ? kLong * (value - long_mean[j]) : 0;
  }
}

PERFCAST_WIDEST_LOOPS
void widen_range(size_t n, const float* z, float* low, float* high) {
  for (size_t j = 0; j < n; ++j) {
    low[j] = z[j] < low[j] ? z[j] : low[j];
    high[j] = z[j] > high[j] ? z[j] : high[j];
  }
}

PERFCAST_WIDEST_LOOPS
void score_tail(size_t n, float sign, const float* value, const float* bound, const float* inverse_beta,
                const float* base, float* block_most, float* nats) {
  for (size_t j = 0; j < n; ++j) {
    const float x = sign * value[j];
    block_most[j] = x > block_most[j] ? x : block_most[j];
    const float above = x - bound[j];
    const float rare = above > 0 ? base[j] + above * inverse_beta[j] : 0.0f;
    nats[j] = rare > nats[j] ? rare : nats[j];
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
