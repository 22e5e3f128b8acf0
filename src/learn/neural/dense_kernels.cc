#include "learn/neural/dense_kernels.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.h"

// One binary for all x86-64 machines: the widest registers that the one at hand has.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PERFCAST_WIDEST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PERFCAST_WIDEST
#endif

// oneDNN's threads are GCC's OpenMP's. Compiling with -fopenmp, for omp.h, would make Eigen use threads as well.
extern "C" void omp_set_num_threads(int threads);

namespace perfcast {

namespace {

// Blocks of a product are the same however many threads there are: so are its bits. oneDNN sums a block of such a side
// in the order that it sums the whole in.
constexpr int64_t kBlockRows = 128, kBlockColumns = 512;
constexpr double kWorthThreads = 1.6e7;  // operations of a product: to start a thread takes as long as some millions

thread_local int threads_of_products = 1;

Status multiply_block(const Product& product, const float* a, const float* b, float* c, int64_t row, int64_t column) {
  omp_set_num_threads(1);
  const int64_t a_stride = product.transpose_a ? product.m : product.k;
  const int64_t b_stride = product.transpose_b ? product.k : product.n;
  a += product.transpose_a ? row : row * product.k;
  b += product.transpose_b ? column * product.k : column;
  c += row * product.n + column;
  const bool by_rows = product.m >= 2 * kBlockRows;
  const int64_t m = by_rows ? std::min(kBlockRows, product.m - row) : product.m;
  const int64_t n = by_rows ? product.n : std::min(kBlockColumns, product.n - column);
  const dnnl_status_t status =
      dnnl_sgemm(product.transpose_a ? 'T' : 'N', product.transpose_b ? 'T' : 'N', m, n, product.k, product.alpha, a,
                 a_stride, b, b_stride, product.beta, c, product.n);
  if (status == dnnl_success) return {};
  return Error{"onednn-failed", "oneDNN's matrix product ended with status " + std::to_string(static_cast<int>(status)),
               "", "oneDNN 2.6"};
}

}  // namespace

Status multiply(const Product& product, const float* a, const float* b, float* c) {
  if (product.m == 0 || product.n == 0 || product.k == 0) return {};
  const bool by_rows = product.m >= 2 * kBlockRows;
  const int64_t blocks =
      by_rows ? (product.m + kBlockRows - 1) / kBlockRows : (product.n + kBlockColumns - 1) / kBlockColumns;
  const double operations =
      2 * static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k);
  return parallel_for(static_cast<size_t>(blocks), operations < kWorthThreads ? 1 : threads_of_products, [&](size_t i) {
    const auto block = static_cast<int64_t>(i);
    return multiply_block(product, a, b, c, by_rows ? block * kBlockRows : 0, by_rows ? 0 : block * kBlockColumns);
  });
}

void use_threads(int threads) { threads_of_products = threads < 1 ? 1 : threads; }
int threads_in_use() { return threads_of_products; }

namespace {

// Plain loops over pointers that don't overlap: CMakeLists.txt has this file vectorised in every build.
PERFCAST_WIDEST void add_bias_to_row(float* __restrict row, const float* __restrict bias, size_t n) {
  for (size_t c = 0; c < n; ++c) row[c] += bias[c];
}

PERFCAST_WIDEST void add_bias_and_rectify(float* __restrict row, const float* __restrict bias, size_t n) {
  for (size_t c = 0; c < n; ++c) {
    const float value = row[c] + bias[c];
    row[c] = value > 0 ? value : 0;
  }
}

PERFCAST_WIDEST void close(float* __restrict gradient, const float* __restrict output, size_t n) {
  for (size_t i = 0; i < n; ++i) gradient[i] = output[i] > 0 ? gradient[i] : 0;
}

PERFCAST_WIDEST void add_row(const float* __restrict row, float* __restrict sums, size_t n) {
  for (size_t c = 0; c < n; ++c) sums[c] += row[c];
}

PERFCAST_WIDEST void adam(AdamStep step, const float* __restrict gradient, float* __restrict first,
                          float* __restrict second, float* __restrict values, size_t n) {
  const float first_share = 1 - step.first_decay;
  const float second_share = 1 - step.second_decay;
  const float kept = 1 - step.rate * step.weight_decay;
  const float rate = step.rate * step.first_scale;
  const float root_scale = std::sqrt(step.second_scale);
  for (size_t i = 0; i < n; ++i) {
    const float g = gradient[i];
    first[i] = step.first_decay * first[i] + first_share * g;
    second[i] = step.second_decay * second[i] + second_share * g * g;
    values[i] = kept * values[i] - rate * first[i] / (root_scale * std::sqrt(second[i]) + step.epsilon);
  }
}

}  // namespace

void add_bias(std::span<float> rows, std::span<const float> bias, bool rectify) {
  for (size_t at = 0; at < rows.size(); at += bias.size()) {
    (rectify ? add_bias_and_rectify : add_bias_to_row)(rows.data() + at, bias.data(), bias.size());
  }
}

void close_rectified(std::span<float> gradient, std::span<const float> output) {
  close(gradient.data(), output.data(), gradient.size());
}

void sum_rows(std::span<const float> rows, std::span<float> sums) {
  std::fill(sums.begin(), sums.end(), 0.0f);
  for (size_t at = 0; at < rows.size(); at += sums.size()) add_row(rows.data() + at, sums.data(), sums.size());
}

void adam_step(const AdamStep& step, std::span<const float> gradient, std::span<float> first, std::span<float> second,
               std::span<float> values) {
  adam(step, gradient.data(), first.data(), second.data(), values.data(), values.size());
}

namespace {

constexpr float kStep = 16777216;  // 2^24: one step of a byte that is on top of its word

// The byte that puts `steps` on top of `below`, the bytes under it, most nearly.
uint32_t top_byte(float steps, uint32_t below, int bits_below) {
  const float carried = static_cast<float>(below) / static_cast<float>(1u << bits_below);
  return static_cast<uint32_t>(std::clamp(std::lround(steps - carried), -127L, 127L)) & 0xFF;
}

}  // namespace

float PackedWeights::weight(int64_t input, int64_t output) const {
  const int64_t place = output / quarter();
  const auto word = static_cast<uint32_t>(words[static_cast<size_t>(input * quarter() + output % quarter())]);
  return scales[static_cast<size_t>(input)] * static_cast<float>(static_cast<int32_t>(word << (24 - 8 * place)));
}

PackedWeights pack(std::span<const float> weights, int64_t inputs, int64_t outputs) {
  PackedWeights packed{inputs, outputs, {}, {}};
  const auto columns = static_cast<size_t>(outputs);
  const auto quarter = static_cast<size_t>(packed.quarter());
  for (size_t i = 0; i < static_cast<size_t>(inputs); ++i) {
    const auto row = weights.subspan(i * columns, columns);
    float largest = 0;
    for (const float weight : row) largest = std::max(largest, std::abs(weight));
    const float per_step = largest > 0 ? 127 / largest : 0;
    packed.scales.push_back(largest / 127 / kStep);
    for (size_t j = 0; j < quarter; ++j) {
      uint32_t word = 0;
      for (size_t place = 0; place < 4; ++place) {
        const size_t column = j + place * quarter;
        const float steps = column < columns ? row[column] * per_step : 0;
        word |= top_byte(steps, word, static_cast<int>(8 * place)) << (8 * place);
      }
      packed.words.push_back(static_cast<int32_t>(word));
    }
  }
  return packed;
}

namespace {

using Words [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = int32_t;
using Floats [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = float;

// Four rows at once: the output, which stays in the first-level cache, is read and written a quarter as often. Vectors
// are spelt out, because compilers prefer registers of half the width.
PERFCAST_WIDEST void add_four_rows(const float* scale, const int32_t* const* rows, float* output, size_t quarter) {
  for (size_t j = 0; j < quarter; j += 16) {
    Floats sum[4];
    for (size_t place = 0; place < 4; ++place) {
      sum[place] = *reinterpret_cast<const Floats*>(output + place * quarter + j);
    }
    for (size_t r = 0; r < 4; ++r) {
      const Words words = *reinterpret_cast<const Words*>(rows[r] + j);
      sum[0] += scale[r] * __builtin_convertvector(words << 24, Floats);
      sum[1] += scale[r] * __builtin_convertvector(words << 16, Floats);
      sum[2] += scale[r] * __builtin_convertvector(words << 8, Floats);
      sum[3] += scale[r] * __builtin_convertvector(words, Floats);
    }
    for (size_t place = 0; place < 4; ++place) {
      *reinterpret_cast<Floats*>(output + place * quarter + j) = sum[place];
    }
  }
}

}  // namespace

void add_row_product(std::span<const float> input, const PackedWeights& weights, std::span<float> output) {
  const auto quarter = static_cast<size_t>(weights.quarter());
  float scale[4];
  const int32_t* rows[4];
  size_t filled = 0;
  for (size_t i = 0; i < input.size(); ++i) {
    if (input[i] == 0) continue;
    scale[filled] = input[i] * weights.scales[i];
    rows[filled] = weights.words.data() + i * quarter;
    if (++filled < 4) continue;
    add_four_rows(scale, rows, output.data(), quarter);
    filled = 0;
  }
  if (filled == 0) return;
  for (size_t i = filled; i < 4; ++i) {
    scale[i] = 0;
    rows[i] = rows[0];
  }
  add_four_rows(scale, rows, output.data(), quarter);
}

}  // namespace perfcast
