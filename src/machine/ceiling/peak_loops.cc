#include "machine/ceiling/peak_loops.h"

#include <cstring>

#include "machine/ceiling/cpu_isa.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace perfcast {
namespace {

// Independent sums in flight: latency (4 to 5 cycles) times units (2) is 8 to 10.
constexpr int kSums = 12;

#if defined(__x86_64__)

// One loop for each instruction: nothing but it, on sums that stay in registers. It is written out, since compilers
// copy the sum before and after an intrinsic that adds to it in place: three instructions for one, and where four are
// issued a cycle and two of them are products that is what is measured then. Factors are small, so that sums stay
// finite, and no powers of two.
#define PERFCAST_TWELVE_TIMES(instruction)                                                              \
  instruction " %13, %12, %0\n" instruction " %13, %12, %1\n" instruction " %13, %12, %2\n" instruction \
              " %13, %12, %3\n" instruction " %13, %12, %4\n" instruction " %13, %12, %5\n" instruction \
              " %13, %12, %6\n" instruction " %13, %12, %7\n" instruction " %13, %12, %8\n" instruction \
              " %13, %12, %9\n" instruction " %13, %12, %10\n" instruction " %13, %12, %11"
#define PERFCAST_PEAK_LOOP(name, isa, type, lane_type, make, zero, instruction)                                    \
  __attribute__((target(isa))) float name(int64_t passes) {                                                        \
    static_assert(kSums == 12);                                                                                    \
    const type x = (make), y = x;                                                                                  \
    type a = (zero), b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a, k = a, l = a;                  \
    for (int64_t pass = 0; pass < passes; ++pass) {                                                                \
      __asm__ volatile(PERFCAST_TWELVE_TIMES(instruction)                                                          \
                       : "+v"(a), "+v"(b), "+v"(c), "+v"(d), "+v"(e), "+v"(f), "+v"(g), "+v"(h), "+v"(i), "+v"(j), \
                         "+v"(k), "+v"(l)                                                                          \
                       : "v"(x), "v"(y));                                                                          \
    }                                                                                                              \
    float total = 0;                                                                                               \
    for (const type& sum : {a, b, c, d, e, f, g, h, i, j, k, l}) {                                                 \
      lane_type lane;                                                                                              \
      std::memcpy(&lane, &sum, sizeof lane);                                                                       \
      total += static_cast<float>(lane);                                                                           \
    }                                                                                                              \
    return total;                                                                                                  \
  }

PERFCAST_PEAK_LOOP(fp64_avx512, "avx512f", __m512d, double, _mm512_set1_pd(1.1e-3), _mm512_setzero_pd(), "vfmadd231pd")
PERFCAST_PEAK_LOOP(fp64_avx2, "avx2,fma", __m256d, double, _mm256_set1_pd(1.1e-3), _mm256_setzero_pd(), "vfmadd231pd")
PERFCAST_PEAK_LOOP(fp64_fused, "avx2,fma", double, double, 1.1e-3, 0.0, "vfmadd231sd")
PERFCAST_PEAK_LOOP(fp32_avx512, "avx512f", __m512, float, _mm512_set1_ps(1.1e-3F), _mm512_setzero_ps(), "vfmadd231ps")
PERFCAST_PEAK_LOOP(fp32_avx2, "avx2,fma", __m256, float, _mm256_set1_ps(1.1e-3F), _mm256_setzero_ps(), "vfmadd231ps")
PERFCAST_PEAK_LOOP(fp32_fused, "avx2,fma", float, float, 1.1e-3F, 0.0F, "vfmadd231ss")
PERFCAST_PEAK_LOOP(bf16_avx512, "avx512f,avx512bf16", __m512, float, _mm512_set1_ps(1.1e-3F), _mm512_setzero_ps(),
                   "vdpbf16ps")
PERFCAST_PEAK_LOOP(int8_avx512, "avx512f,avx512vnni", __m512i, float, _mm512_set1_epi32(0x03050701),
                   _mm512_setzero_si512(), "vpdpbusd")
PERFCAST_PEAK_LOOP(int8_avx, "avx2,avxvnni", __m256i, float, _mm256_set1_epi32(0x03050701), _mm256_setzero_si256(),
                   "%{vex%} vpdpbusd")

// No multiply-add: before each use the factors pass through an empty asm, so that the compiler can't compute their
// product once for all.
#define PERFCAST_UNFUSED_LOOP(name, type, lane_type, make, zero)  \
  __attribute__((target("sse2"))) float name(int64_t passes) {    \
    type sums[kSums], x = (make), y = x;                          \
    _Pragma("GCC unroll 12") for (auto& sum : sums) sum = (zero); \
    for (int64_t pass = 0; pass < passes; ++pass) {               \
      _Pragma("GCC unroll 12") for (auto& sum : sums) {           \
        __asm__ volatile("" : "+x"(x), "+x"(y));                  \
        sum = sum + x * y;                                        \
      }                                                           \
    }                                                             \
    float total = 0;                                              \
    for (const type& sum : sums) {                                \
      lane_type lane;                                             \
      std::memcpy(&lane, &sum, sizeof lane);                      \
      total += static_cast<float>(lane);                          \
    }                                                             \
    return total;                                                 \
  }

PERFCAST_UNFUSED_LOOP(fp64_sse2, __m128d, double, _mm_set1_pd(1.1e-3), _mm_setzero_pd())
PERFCAST_UNFUSED_LOOP(fp32_sse2, __m128, float, _mm_set1_ps(1.1e-3F), _mm_setzero_ps())
PERFCAST_UNFUSED_LOOP(fp64_unfused, double, double, 1.1e-3, 0.0)
PERFCAST_UNFUSED_LOOP(fp32_unfused, float, float, 1.1e-3F, 0.0F)

// Tiles of 16 rows of 64 bytes: six sums, one tile of A and one of B.
struct TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

__attribute__((target("amx-tile"))) void configure_tiles(uint32_t fill) {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    config.row_bytes[tile] = 64;
    config.rows[tile] = 16;
  }
  alignas(64) uint32_t values[16 * 16];
  for (uint32_t& value : values) value = fill;
  // The intrinsics don't say that they read memory.
  __asm__ volatile("" : : "r"(&config), "r"(values) : "memory");
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_loadd(6, values, 64);
  _tile_loadd(7, values, 64);
}

__attribute__((target("amx-tile"))) float sum_of_tile() {
  alignas(64) float values[16 * 16];
  _tile_stored(0, values, 64);
  _tile_release();
  return values[0];
}

__attribute__((target("amx-tile,amx-bf16"))) float bf16_amx(int64_t passes) {
  configure_tiles(0x3a903a90);  // pairs of 1.1e-3
  for (int64_t pass = 0; pass < passes; ++pass) {
    _tile_dpbf16ps(0, 6, 7);
    _tile_dpbf16ps(1, 6, 7);
    _tile_dpbf16ps(2, 6, 7);
    _tile_dpbf16ps(3, 6, 7);
    _tile_dpbf16ps(4, 6, 7);
    _tile_dpbf16ps(5, 6, 7);
  }
  return sum_of_tile();
}

__attribute__((target("amx-tile,amx-int8"))) float int8_amx(int64_t passes) {
  configure_tiles(0x03050701);
  for (int64_t pass = 0; pass < passes; ++pass) {
    _tile_dpbusd(0, 6, 7);
    _tile_dpbusd(1, 6, 7);
    _tile_dpbusd(2, 6, 7);
    _tile_dpbusd(3, 6, 7);
    _tile_dpbusd(4, 6, 7);
    _tile_dpbusd(5, 6, 7);
  }
  return sum_of_tile();
}

std::vector<PeakLoop> built_loops() {
  const std::string scalar(kScalarIsa);
  const bool fused = cpu_has("avx2");
  return {{"avx512", "fp64", 8, 2.0 * 8 * kSums, fp64_avx512},
          {"avx2", "fp64", 4, 2.0 * 4 * kSums, fp64_avx2},
          {"sse2", "fp64", 2, 2.0 * 2 * kSums, fp64_sse2},
          {scalar, "fp64", 1, 2.0 * kSums, fused ? fp64_fused : fp64_unfused},
          {"avx512", "fp32", 16, 2.0 * 16 * kSums, fp32_avx512},
          {"avx2", "fp32", 8, 2.0 * 8 * kSums, fp32_avx2},
          {"sse2", "fp32", 4, 2.0 * 4 * kSums, fp32_sse2},
          {scalar, "fp32", 1, 2.0 * kSums, fused ? fp32_fused : fp32_unfused},
          {"amx-bf16", "bf16", 0, 2.0 * 16 * 16 * 32 * 6, bf16_amx},
          {"avx512-bf16", "bf16", 32, 2.0 * 32 * kSums, bf16_avx512},
          {"amx-int8", "int8", 0, 2.0 * 16 * 16 * 64 * 6, int8_amx},
          {"avx512-vnni", "int8", 64, 2.0 * 64 * kSums, int8_avx512},
          {"avx-vnni", "int8", 32, 2.0 * 32 * kSums, int8_avx}};
}

#elif defined(__aarch64__)

float fp32_neon(int64_t passes) {
  float32x4_t sums[kSums], x = vdupq_n_f32(1.1e-3F), y = x;
  __asm__ volatile("" : "+w"(x), "+w"(y));
  for (auto& sum : sums) sum = vdupq_n_f32(0);
  for (int64_t pass = 0; pass < passes; ++pass) {
#pragma GCC unroll 12
    for (auto& sum : sums) sum = vfmaq_f32(sum, x, y);
    __asm__ volatile("" : "+w"(x));
  }
  float total = 0;
  for (auto& sum : sums) total += vgetq_lane_f32(sum, 0);
  return total;
}

float fp64_neon(int64_t passes) {
  float64x2_t sums[kSums], x = vdupq_n_f64(1.1e-3), y = x;
  __asm__ volatile("" : "+w"(x), "+w"(y));
  for (auto& sum : sums) sum = vdupq_n_f64(0);
  for (int64_t pass = 0; pass < passes; ++pass) {
#pragma GCC unroll 12
    for (auto& sum : sums) sum = vfmaq_f64(sum, x, y);
    __asm__ volatile("" : "+w"(x));
  }
  float total = 0;
  for (auto& sum : sums) total += static_cast<float>(vgetq_lane_f64(sum, 0));
  return total;
}

template <typename T>
float fused_one_by_one(int64_t passes) {
  T sums[kSums] = {}, x = static_cast<T>(1.1e-3), y = x;
  for (int64_t pass = 0; pass < passes; ++pass) {
#pragma GCC unroll 12
    for (T& sum : sums) {
      __asm__ volatile("" : "+w"(x), "+w"(y));
      sum = __builtin_fma(x, y, sum);
    }
  }
  float total = 0;
  for (const T sum : sums) total += static_cast<float>(sum);
  return total;
}

std::vector<PeakLoop> built_loops() {
  const std::string scalar(kScalarIsa);
  return {{"neon", "fp64", 2, 2.0 * 2 * kSums, fp64_neon},
          {scalar, "fp64", 1, 2.0 * kSums, fused_one_by_one<double>},
          {"neon", "fp32", 4, 2.0 * 4 * kSums, fp32_neon},
          {scalar, "fp32", 1, 2.0 * kSums, fused_one_by_one<float>}};
}

#else

std::vector<PeakLoop> built_loops() { return {}; }

#endif

}  // namespace

const std::vector<PeakLoop>& peak_loops() {
  static const std::vector<PeakLoop> kLoops = [] {
    std::vector<PeakLoop> loops = built_loops();
    std::erase_if(loops, [](const PeakLoop& loop) { return loop.isa != kScalarIsa && !cpu_has(loop.isa); });
    return loops;
  }();
  return kLoops;
}

const PeakLoop* find_peak_loop(std::string_view isa, std::string_view format) {
  for (const PeakLoop& loop : peak_loops()) {
    if (loop.isa == isa && loop.format == format) return &loop;
  }
  return nullptr;
}

#if defined(__x86_64__)
int64_t run_additions(int64_t passes) {
  int64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
#define PERFCAST_EIGHT_ADDITIONS \
  "add $1, %0\nadd $1, %1\nadd $1, %2\nadd $1, %3\nadd $1, %4\nadd $1, %5\nadd $1, %6\nadd $1, %7\n"
  static_assert(kAdditions == 4 * 8);
  for (int64_t pass = 0; pass < passes; ++pass) {
    __asm__ volatile(PERFCAST_EIGHT_ADDITIONS PERFCAST_EIGHT_ADDITIONS PERFCAST_EIGHT_ADDITIONS PERFCAST_EIGHT_ADDITIONS
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h)
                     :
                     : "cc");
  }
  return a + b + c + d + e + f + g + h;
}
#elif defined(__aarch64__)
int64_t run_additions(int64_t passes) {
  int64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
#define PERFCAST_EIGHT_ADDITIONS                                                                                 \
  "add %0, %0, #1\nadd %1, %1, #1\nadd %2, %2, #1\nadd %3, %3, #1\nadd %4, %4, #1\nadd %5, %5, #1\nadd %6, %6, " \
  "#1\nadd %7, %7, #1\n"
  static_assert(kAdditions == 4 * 8);
  for (int64_t pass = 0; pass < passes; ++pass) {
    __asm__ volatile(PERFCAST_EIGHT_ADDITIONS PERFCAST_EIGHT_ADDITIONS PERFCAST_EIGHT_ADDITIONS PERFCAST_EIGHT_ADDITIONS
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
  }
  return a + b + c + d + e + f + g + h;
}
#else
int64_t run_additions(int64_t) { return -1; }
#endif

// What is added is in a register: some cores add constants before an addition gets to its unit.
#if defined(__x86_64__) || defined(__aarch64__)
int64_t run_addition_chain(int64_t passes) {
  int64_t sum = 0, one = 1;
#if defined(__x86_64__)
#define PERFCAST_FOUR_IN_A_ROW "add %1, %0\nadd %1, %0\nadd %1, %0\nadd %1, %0\n"
#else
#define PERFCAST_FOUR_IN_A_ROW "add %0, %0, %1\nadd %0, %0, %1\nadd %0, %0, %1\nadd %0, %0, %1\n"
#endif
  static_assert(kAdditions == 8 * 4);
  for (int64_t pass = 0; pass < passes; ++pass) {
    __asm__ volatile(PERFCAST_FOUR_IN_A_ROW PERFCAST_FOUR_IN_A_ROW PERFCAST_FOUR_IN_A_ROW PERFCAST_FOUR_IN_A_ROW
                         PERFCAST_FOUR_IN_A_ROW PERFCAST_FOUR_IN_A_ROW PERFCAST_FOUR_IN_A_ROW PERFCAST_FOUR_IN_A_ROW
                     : "+r"(sum)
                     : "r"(one)
                     : "cc");
  }
  return sum;
}
#else
int64_t run_addition_chain(int64_t) { return -1; }
#endif

}  // namespace perfcast
