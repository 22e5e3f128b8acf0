#include "machine/ceiling/read_loops.h"

#include <cstring>

#include "machine/ceiling/cpu_isa.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace perfcast {
namespace {

constexpr int kRegisters = 8;

// The barrier keeps passes apart: two of them cancel each other out.
uint64_t read_by_words(const uint64_t* array, size_t words, int64_t passes) {
  uint64_t sums[kRegisters] = {};
  for (int64_t pass = 0; pass < passes; ++pass) {
    for (size_t at = 0; at < words; at += kRegisters) {
      for (size_t i = 0; i < kRegisters; ++i) sums[i] ^= array[at + i];
    }
    __asm__ volatile("" : : "r"(sums) : "memory");
  }
  uint64_t all = 0;
  for (const uint64_t sum : sums) all ^= sum;
  return all;
}

#if defined(__x86_64__)

#define PERFCAST_READ_LOOP(name, isa, type, load, either)                                           \
  __attribute__((target(isa))) uint64_t name(const uint64_t* array, size_t words, int64_t passes) { \
    constexpr size_t kWords = sizeof(type) / sizeof(uint64_t);                                      \
    static_assert(kReadStep % (kWords * kRegisters) == 0);                                          \
    type sums[kRegisters] = {};                                                                     \
    for (int64_t pass = 0; pass < passes; ++pass) {                                                 \
      for (size_t at = 0; at < words; at += kWords * kRegisters) {                                  \
        _Pragma("GCC unroll 8") for (size_t i = 0; i < kRegisters; ++i) sums[i] =                   \
            either(sums[i], load(array + at + kWords * i));                                         \
      }                                                                                             \
      __asm__ volatile("" : : : "memory");                                                          \
    }                                                                                               \
    uint64_t all = 0;                                                                               \
    for (const type& sum : sums) {                                                                  \
      uint64_t lanes[kWords];                                                                       \
      std::memcpy(lanes, &sum, sizeof lanes);                                                       \
      for (const uint64_t lane : lanes) all ^= lane;                                                \
    }                                                                                               \
    return all;                                                                                     \
  }

PERFCAST_READ_LOOP(read_avx512, "avx512f", __m512i, _mm512_load_si512, _mm512_xor_si512)
#define PERFCAST_LOAD_256(from) _mm256_load_si256(reinterpret_cast<const __m256i*>(from))
PERFCAST_READ_LOOP(read_avx2, "avx2", __m256i, PERFCAST_LOAD_256, _mm256_xor_si256)
#define PERFCAST_LOAD_128(from) _mm_load_si128(reinterpret_cast<const __m128i*>(from))
PERFCAST_READ_LOOP(read_sse2, "sse2", __m128i, PERFCAST_LOAD_128, _mm_xor_si128)

std::vector<ReadLoop> built_read_loops() {
  return {{"avx512", read_avx512}, {"avx2", read_avx2}, {"sse2", read_sse2}, {"", read_by_words}};
}

#else

// Compilers make these 128 bits wide.
std::vector<ReadLoop> built_read_loops() { return {{"", read_by_words}}; }

#endif

}  // namespace

const std::vector<ReadLoop>& read_loops() {
  static const std::vector<ReadLoop> kLoops = [] {
    std::vector<ReadLoop> loops = built_read_loops();
    std::erase_if(loops, [](const ReadLoop& loop) { return !loop.isa.empty() && !cpu_has(loop.isa); });
    return loops;
  }();
  return kLoops;
}

bool drop_from_caches(const uint64_t* array, size_t words) {
#if defined(__x86_64__)
  constexpr size_t kLineWords = 8;
  for (size_t at = 0; at < words; at += kLineWords) _mm_clflush(array + at);
  _mm_mfence();
  return true;
#elif defined(__aarch64__)
  constexpr size_t kLineWords = 8;
  for (size_t at = 0; at < words; at += kLineWords) __asm__ volatile("dc civac, %0" : : "r"(array + at) : "memory");
  __asm__ volatile("dsb ish" : : : "memory");
  return true;
#else
  (void)array;
  (void)words;
  return false;
#endif
}

}  // namespace perfcast
