#include "machine/ceiling/touch_loops.h"

namespace perfcast {
namespace {

constexpr size_t kSums = 4;

}  // namespace

// Volatile words are loaded and stored one by one: no compiler makes one wide access of them.
uint32_t read_fourths(const uint32_t* array, size_t words, int64_t passes) {
  const volatile uint32_t* const at = array;
  uint32_t sums[kSums] = {};
  for (int64_t pass = 0; pass < passes; ++pass) {
    for (size_t i = 0; i < words; i += kTouchStep) {
#pragma GCC unroll 16
      for (size_t k = 0; k < kTouchStep / kTouchApart; ++k) sums[k % kSums] += at[i + k * kTouchApart];
    }
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

void write_fourths(uint32_t* array, size_t words, int64_t passes, uint32_t value) {
  volatile uint32_t* const at = array;
  for (int64_t pass = 0; pass < passes; ++pass) {
    for (size_t i = 0; i < words; i += kTouchStep) {
#pragma GCC unroll 16
      for (size_t k = 0; k < kTouchStep / kTouchApart; ++k) at[i + k * kTouchApart] = value;
    }
  }
}

uint32_t read_write_fourths(uint32_t* array, size_t words, int64_t passes, uint32_t value) {
  volatile uint32_t* const at = array;
  uint32_t sums[kSums] = {};
  for (int64_t pass = 0; pass < passes; ++pass) {
    for (size_t i = 0; i < words; i += kTouchStep) {
#pragma GCC unroll 16
      for (size_t k = 0; k < kTouchStep / kTouchApart; ++k) {
        sums[k % kSums] += at[i + k * kTouchApart];
        at[i + k * kTouchApart] = value;
      }
    }
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

uint32_t follow_chain(const uint32_t* array, uint32_t from, int64_t steps) {
  uint32_t at = from;
  for (int64_t step = 0; step < steps; ++step) at = array[at];
  return at;
}

}  // namespace perfcast
