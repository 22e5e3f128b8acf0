// The kernels of one set of instructions. Included by kernels_*.cc alone, which are compiled for theirs: nothing here
// may have a name that another file's could be merged with, so there are no templates of other headers either.

#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "ai/transformer/kernel/transformer_kernels.h"

namespace perfcast::ai {
namespace {

#if defined(__AVX512F__)
constexpr int64_t kLanes = 16;
constexpr int kOneRowVectors = 4, kTileVectors = 4;  // columns at a time, in registers
#elif defined(__AVX2__)
constexpr int64_t kLanes = 8;
constexpr int kOneRowVectors = 8, kTileVectors = 2;
#else
constexpr int64_t kLanes = 4;
constexpr int kOneRowVectors = 4, kTileVectors = 4;
#endif
constexpr int64_t kVectorsOfStep = kVectorStep / kLanes;

typedef float Floats __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));
typedef int32_t Integers __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));
typedef uint8_t Bytes __attribute__((vector_size(kLanes), aligned(1), may_alias));

inline Floats load(const float* from) { return *reinterpret_cast<const Floats*>(from); }
inline void store(float* to, Floats values) { *reinterpret_cast<Floats*>(to) = values; }
inline Floats broadcast(float value) { return Floats{} + value; }
inline Integers bits_of(Floats values) { return reinterpret_cast<Integers>(values); }
inline Floats of_bits(Integers bits) { return reinterpret_cast<Floats>(bits); }
inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }
inline Floats smaller(Floats a, Floats b) { return a < b ? a : b; }

inline float sum_of(Floats values) {
  float lanes[kLanes];
  std::memcpy(lanes, &values, sizeof lanes);
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

inline float largest_of(Floats values) {
  float lanes[kLanes];
  std::memcpy(lanes, &values, sizeof lanes);
  float largest = lanes[0];
  for (int64_t i = 1; i < kLanes; ++i) largest = lanes[i] > largest ? lanes[i] : largest;
  return largest;
}

// Adding it rounds a float below 2^22 to a whole number, which is then in its lowest bits.
constexpr float kRound = 12582912.0f;  // 1.5 * 2^23

// e^x to 2 units in the last place; x is kept within +-87, where neither zero nor infinity is near. The remainder after
// whole powers of two, at most ln 2 / 2, goes through its series to the seventh power.
inline Floats exponential(Floats x) {
  x = smaller(larger(x, broadcast(-87.0f)), broadcast(87.0f));
  const Floats shifted = x * 1.44269504088896341f + kRound;
  const Floats whole = shifted - kRound;
  Floats rest = x - whole * 0.693359375f;  // ln 2 in two parts, the first of few bits
  rest = rest - whole * -2.12194440e-4f;
  Floats series = broadcast(1.0f / 5040);
  series = series * rest + 1.0f / 720;
  series = series * rest + 1.0f / 120;
  series = series * rest + 1.0f / 24;
  series = series * rest + 1.0f / 6;
  series = series * rest + 0.5f;
  series = series * rest + 1.0f;
  series = series * rest + 1.0f;
  return of_bits(bits_of(series) + (bits_of(shifted) << 23));
}

template <int kRows, int kVectors>
inline void product_of(const float* panel, int64_t panel_stride, int64_t depth, const float* x, int64_t x_stride,
                       float* out, int64_t out_stride) {
  Floats sums[kRows][kVectors] = {};
  for (int64_t d = 0; d < depth; ++d) {
    const float* line = panel + d * panel_stride;
    Floats values[kVectors];
    for (int v = 0; v < kVectors; ++v) values[v] = load(line + v * kLanes);
    for (int r = 0; r < kRows; ++r) {
      const Floats factor = broadcast(x[r * x_stride + d]);
      for (int v = 0; v < kVectors; ++v) sums[r][v] += factor * values[v];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) store(out + r * out_stride + v * kLanes, sums[r][v]);
  }
}

template <int kRows>
inline void product_of_rows(const float* panel, int64_t panel_stride, int64_t depth, int64_t columns, const float* x,
                            int64_t x_stride, float* out, int64_t out_stride) {
  constexpr int kVectors = kRows == 1 ? kOneRowVectors : kTileVectors;
  int64_t at = 0;
  for (; at + kVectors * kLanes <= columns; at += kVectors * kLanes) {
    product_of<kRows, kVectors>(panel + at, panel_stride, depth, x, x_stride, out + at, out_stride);
  }
  for (; at < columns; at += kVectorStep) {
    product_of<kRows, static_cast<int>(kVectorsOfStep)>(panel + at, panel_stride, depth, x, x_stride, out + at,
                                                        out_stride);
  }
}

void product(const float* panel, int64_t panel_stride, int64_t depth, int64_t columns, const float* x, int64_t x_stride,
             int64_t rows, float* out, int64_t out_stride) {
  switch (rows) {
    case 1:
      return product_of_rows<1>(panel, panel_stride, depth, columns, x, x_stride, out, out_stride);
    case 2:
      return product_of_rows<2>(panel, panel_stride, depth, columns, x, x_stride, out, out_stride);
    case 3:
      return product_of_rows<3>(panel, panel_stride, depth, columns, x, x_stride, out, out_stride);
    default:
      return product_of_rows<4>(panel, panel_stride, depth, columns, x, x_stride, out, out_stride);
  }
}

void scale_sums(const int32_t* sums, int64_t count, const ByteScales& scales, float row_scale, float* out) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Integers whole =
        *reinterpret_cast<const Integers*>(sums + i) - *reinterpret_cast<const Integers*>(scales.corrections + i);
    store(out + i, __builtin_convertvector(whole, Floats) * load(scales.scales + i) * row_scale);
  }
  for (; i < count; ++i) {
    out[i] = static_cast<float>(sums[i] - scales.corrections[i]) * scales.scales[i] * row_scale;
  }
}

#if defined(__AVX512VNNI__)

template <int kRows>
inline void byte_sums_of(const int8_t* panel, int64_t depth, const uint8_t* x, int64_t x_stride,
                         int32_t (*sums_out)[kPanelColumns]) {
  __m512i sums[kRows][4];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < 4; ++v) sums[r][v] = _mm512_setzero_si512();
  }
  for (int64_t d = 0; d < depth; d += kByteDepths) {
    const int8_t* line = panel + d * kPanelColumns;
    __m512i values[4];
    for (int v = 0; v < 4; ++v) values[v] = _mm512_loadu_si512(line + int64_t{64} * v);
    for (int r = 0; r < kRows; ++r) {
      int32_t four;
      std::memcpy(&four, x + r * x_stride + d, sizeof four);
      const __m512i factor = _mm512_set1_epi32(four);
      for (int v = 0; v < 4; ++v) sums[r][v] = _mm512_dpbusd_epi32(sums[r][v], factor, values[v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < 4; ++v) _mm512_storeu_si512(sums_out[r] + int64_t{16} * v, sums[r][v]);
  }
}

inline void byte_sums(const int8_t* panel, int64_t depth, const uint8_t* x, int64_t x_stride, int64_t rows,
                      int32_t (*sums)[kPanelColumns]) {
  if (rows == 1) return byte_sums_of<1>(panel, depth, x, x_stride, sums);
  if (rows == 2) return byte_sums_of<2>(panel, depth, x, x_stride, sums);
  if (rows == 3) return byte_sums_of<3>(panel, depth, x, x_stride, sums);
  return byte_sums_of<4>(panel, depth, x, x_stride, sums);
}

#elif defined(__AVX2__)

// 32 columns of one row: pairs of depths are multiplied in 16 bits and added in 32, which can't overflow.
inline void byte_sums_of_half(const int8_t* panel, int64_t depth, const uint8_t* x, int32_t* sums_out) {
  __m256i sums[8];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  for (int64_t d = 0; d < depth; d += kByteDepths) {
    const int8_t* line = panel + d * kPanelColumns;
    int32_t four;
    std::memcpy(&four, x + d, sizeof four);
    const __m256i factor = _mm256_cvtepu8_epi16(_mm_set1_epi32(four));
    for (int v = 0; v < 8; ++v) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(line + int64_t{16} * v));
      sums[v] = _mm256_add_epi32(sums[v], _mm256_madd_epi16(factor, _mm256_cvtepi8_epi16(bytes)));
    }
  }
  for (int v = 0; v < 8; v += 2) {
    // Two neighbours make a column; the halves of both registers come out interleaved.
    const __m256i pairs = _mm256_hadd_epi32(sums[v], sums[v + 1]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums_out + int64_t{4} * v), _mm256_permute4x64_epi64(pairs, 0xD8));
  }
}

inline void byte_sums(const int8_t* panel, int64_t depth, const uint8_t* x, int64_t x_stride, int64_t rows,
                      int32_t (*sums)[kPanelColumns]) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t half = 0; half < 2; ++half) {
      byte_sums_of_half(panel + half * 128, depth, x + r * x_stride, sums[r] + half * 32);
    }
  }
}

#else

inline void byte_sums(const int8_t* panel, int64_t depth, const uint8_t* x, int64_t x_stride, int64_t rows,
                      int32_t (*sums)[kPanelColumns]) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < kPanelColumns; ++c) sums[r][c] = 0;
    for (int64_t d = 0; d < depth; d += kByteDepths) {
      const int8_t* line = panel + d * kPanelColumns;
      const uint8_t* four = x + r * x_stride + d;
      for (int64_t c = 0; c < kPanelColumns; ++c) {
        const int8_t* column = line + c * kByteDepths;
        sums[r][c] += four[0] * column[0] + four[1] * column[1] + four[2] * column[2] + four[3] * column[3];
      }
    }
  }
}

#endif

void byte_product(const int8_t* panel, int64_t depth, const ByteScales& scales, const uint8_t* x, int64_t x_stride,
                  const float* row_scales, int64_t rows, float* out, int64_t out_stride) {
  alignas(64) int32_t sums[kTileRows][kPanelColumns];
  byte_sums(panel, depth, x, x_stride, rows, sums);
  for (int64_t r = 0; r < rows; ++r) scale_sums(sums[r], kPanelColumns, scales, row_scales[r], out + r * out_stride);
}

float quantise(const float* x, int64_t count, uint8_t* out) {
  Floats most{};
  for (int64_t i = 0; i < count; i += kLanes) {
    const Floats value = load(x + i);
    most = larger(most, larger(value, -value));
  }
  const float largest = largest_of(most);
  const float steps = largest > 0 ? 127.0f / largest : 0.0f;
  for (int64_t i = 0; i < count; i += kLanes) {
    // The zero is part of what is rounded with: the lowest eight bits are the byte.
    const Floats shifted = load(x + i) * steps + (kRound + static_cast<float>(kByteZero));
    *reinterpret_cast<Bytes*>(out + i) = __builtin_convertvector(bits_of(shifted) & 0xFF, Bytes);
  }
  return largest / 127.0f;
}

void rms_norm(const float* x, const float* weight, int64_t count, float epsilon, float* out) {
  Floats squares[kVectorsOfStep] = {};
  for (int64_t i = 0; i < count; i += kVectorStep) {
    for (int64_t v = 0; v < kVectorsOfStep; ++v) {
      const Floats value = load(x + i + v * kLanes);
      squares[v] += value * value;
    }
  }
  for (int64_t v = 1; v < kVectorsOfStep; ++v) squares[0] += squares[v];
  const float factor = 1.0f / __builtin_sqrtf(sum_of(squares[0]) / static_cast<float>(count) + epsilon);
  for (int64_t i = 0; i < count; i += kLanes) store(out + i, load(x + i) * factor * load(weight + i));
}

void gate(const float* gates, const float* up, int64_t count, float* out) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const Floats value = load(gates + i);
    store(out + i, value / (1.0f + exponential(-value)) * load(up + i));
  }
}

void add(float* into, const float* from, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(into + i, load(into + i) + load(from + i));
  for (; i < count; ++i) into[i] += from[i];
}

void rotate(float* head, const float* cosines, const float* sines, int64_t half) {
  int64_t i = 0;
  for (; i + kLanes <= half; i += kLanes) {
    const Floats first = load(head + i), second = load(head + half + i);
    const Floats cosine = load(cosines + i), sine = load(sines + i);
    store(head + i, first * cosine - second * sine);
    store(head + half + i, second * cosine + first * sine);
  }
  for (; i < half; ++i) {
    const float first = head[i], second = head[half + i];
    head[i] = first * cosines[i] - second * sines[i];
    head[half + i] = second * cosines[i] + first * sines[i];
  }
}

float soften(float* scores, int64_t count, int64_t padded, float scale) {
  const float lowest = scores[0];
  for (int64_t i = count; i < padded; ++i) scores[i] = lowest;
  Floats most = load(scores);
  for (int64_t i = kLanes; i < padded; i += kLanes) most = larger(most, load(scores + i));
  const float largest = largest_of(most);
  for (int64_t i = 0; i < padded; i += kLanes) store(scores + i, exponential((load(scores + i) - largest) * scale));
  for (int64_t i = count; i < padded; ++i) scores[i] = 0;
  Floats sums{};
  for (int64_t i = 0; i < padded; i += kLanes) sums += load(scores + i);
  return 1.0f / sum_of(sums);
}

void multiply(float* values, int64_t count, float factor) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(values + i, load(values + i) * factor);
  for (; i < count; ++i) values[i] *= factor;
}

int64_t first_largest(const float* values, int64_t count) {
  constexpr int64_t kBlock = 16 * kVectorStep;
  float best = -__builtin_inff();
  int64_t begin = 0, end = 0;  // of the block that holds it
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t stop = at + kBlock < count ? at + kBlock : count;
    Floats most = broadcast(best);
    int64_t i = at;
    for (; i + kLanes <= stop; i += kLanes) most = larger(load(values + i), most);
    float largest = largest_of(most);
    for (; i < stop; ++i) largest = values[i] > largest ? values[i] : largest;
    if (!(largest > best)) continue;
    best = largest;
    begin = at;
    end = stop;
  }
  for (int64_t i = begin; i < end; ++i) {
    if (values[i] == best) return i;
  }
  for (int64_t i = 0; i < count; ++i) {
    if (values[i] == values[i]) return i;  // all numbers are minus infinity
  }
  return 0;
}

}  // namespace
}  // namespace perfcast::ai
