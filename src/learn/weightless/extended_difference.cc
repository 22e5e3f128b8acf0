#include "learn/weightless/extended_difference.h"

#include <array>
#include <bit>
#include <cmath>

namespace perfcast {
namespace {

constexpr float kDecay = 1.0f / 3.0f;
constexpr size_t kMostEntries = size_t{1} << kMostLutInputs;

float weight_of(size_t n) { return 0.5f * std::pow(0.75f, static_cast<float>(n - 1)); }

}  // namespace

void extended_differences(std::span<const float> table, size_t n, std::span<float> differences) {
  const size_t entries = size_t{1} << n;
  const float weight = weight_of(n);
  std::array<float, kMostEntries / 2> half{};
  for (size_t l = 0; l < n; ++l) {
    const size_t bit = size_t{1} << l, low = bit - 1;
    // Entries without bit l, in order: those where it is set less those where it isn't.
    for (size_t i = 0; i < entries / 2; ++i) {
      const size_t k = (i & ~low) << 1U | (i & low);
      half[i] = weight * (table[k | bit] - table[k]);
    }
    for (size_t stride = 1; stride < entries / 2; stride *= 2) {
      for (size_t block = 0; block < entries / 2; block += 2 * stride) {
        for (size_t i = block; i < block + stride; ++i) {
          const float a = half[i], b = half[i + stride];
          half[i] = a + kDecay * b;
          half[i + stride] = b + kDecay * a;
        }
      }
    }
    float* const row = differences.data() + l * entries;
    for (size_t i = 0; i < entries / 2; ++i) {
      const size_t k = (i & ~low) << 1U | (i & low);
      row[k] = row[k | bit] = half[i];
    }
  }
}

void extended_differences_by_sum(std::span<const float> table, size_t n, size_t address, std::span<float> differences) {
  const size_t entries = size_t{1} << n;
  for (size_t l = 0; l < n; ++l) {
    float sum = 0;
    for (size_t k = 0; k < entries; ++k) {
      const int apart = std::popcount((address ^ k) & ~(size_t{1} << l));
      const float signed_entry = (k >> l & 1U) != 0 ? table[k] : -table[k];
      sum += signed_entry * std::pow(kDecay, static_cast<float>(apart));
    }
    differences[l] = weight_of(n) * sum;
  }
}

void walsh_hadamard(std::span<float> values) {
  for (size_t stride = 1; stride < values.size(); stride *= 2) {
    for (size_t block = 0; block < values.size(); block += 2 * stride) {
      for (size_t i = block; i < block + stride; ++i) {
        const float a = values[i], b = values[i + stride];
        values[i] = a + b;
        values[i + stride] = a - b;
      }
    }
  }
}

}  // namespace perfcast
