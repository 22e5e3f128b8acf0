// One row through the first layer, and its votes. Included by packed_kernels_body.h alone, for whose files its words
// hold, too: no name of it may be one that another file's could be merged with.

#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "learn/weightless/packed_kernels.h"

namespace perfcast {
namespace {

void count_votes(const uint64_t* bits, size_t words, const uint64_t* masks, size_t outputs, int32_t* votes) {
  for (size_t o = 0; o < outputs; ++o) {
    int count = 0;
    for (size_t w = 0; w < words; ++w) count += __builtin_popcountll(bits[w] & masks[o * words + w]);
    votes[o] = count;
  }
}

#if defined(__AVX512F__)

// Sixteen tables at once. Of inputs that two registers hold, what is read is picked from those.
template <size_t kArity, bool kInRegisters>
void sixteen_tables(const PackedView& view, const float* row, uint64_t* words) {
  const __m512i ones = _mm512_set1_epi64(1);
  const size_t padded = view.padded;
  const int32_t* const inputs = view.read_input;
  const float* const thresholds = view.read_threshold;
  const __m512 low = kInRegisters ? _mm512_load_ps(row) : _mm512_setzero_ps();
  const __m512 high = kInRegisters ? _mm512_load_ps(row + 16) : _mm512_setzero_ps();
  uint64_t word = 0;
  for (size_t j = 0; j < padded; j += 16) {
    __m512i address = _mm512_setzero_si512();
#pragma GCC unroll 6
    for (size_t l = 0; l < kArity; ++l) {
      const __m512i input = _mm512_loadu_si512(inputs + l * padded + j);
      const __m512 value = kInRegisters ? _mm512_permutex2var_ps(low, input, high) : _mm512_i32gather_ps(input, row, 4);
      const __mmask16 set = _mm512_cmp_ps_mask(value, _mm512_loadu_ps(thresholds + l * padded + j), _CMP_GT_OQ);
      address = _mm512_mask_or_epi32(address, set, address, _mm512_set1_epi32(1 << l));
    }
    const __m512i lower = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(address));
    const __m512i upper = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(address, 1));
    const __m512i first = _mm512_srlv_epi64(_mm512_loadu_si512(view.padded_tables + j), lower);
    const __m512i second = _mm512_srlv_epi64(_mm512_loadu_si512(view.padded_tables + j + 8), upper);
    const uint64_t out = uint64_t{_mm512_test_epi64_mask(first, ones)} | uint64_t{_mm512_test_epi64_mask(second, ones)}
                                                                             << 8U;
    word |= out << (j % 64);
    if (j % 64 == 48) {
      words[j / 64] = word;
      word = 0;
    }
  }
}

template <bool kInRegisters>
void sixteen_tables(const PackedView& view, const float* row, uint64_t* words) {
  switch (view.arity) {
    case 1:
      return sixteen_tables<1, kInRegisters>(view, row, words);
    case 2:
      return sixteen_tables<2, kInRegisters>(view, row, words);
    case 3:
      return sixteen_tables<3, kInRegisters>(view, row, words);
    case 4:
      return sixteen_tables<4, kInRegisters>(view, row, words);
    case 5:
      return sixteen_tables<5, kInRegisters>(view, row, words);
    default:
      return sixteen_tables<6, kInRegisters>(view, row, words);
  }
}

#if defined(__AVX512VBMI__)
// Each bit that is read once, and from two registers of them the addresses of 64 tables at once.
inline void picked_tables(const PackedView& view, const float* row, uint64_t* words) {
  alignas(64) uint16_t bits[kMostGroups] = {};
  for (size_t g = 0; g < view.groups; ++g) {
    const float* const from = row + view.group_base[g];
    const __m512 value = _mm512_permutex2var_ps(_mm512_loadu_ps(from), _mm512_loadu_si512(view.group_input + 16 * g),
                                                _mm512_loadu_ps(from + 16));
    bits[g] = _mm512_cmp_ps_mask(value, _mm512_loadu_ps(view.group_threshold + 16 * g), _CMP_GT_OQ);
  }
  const __m512i low = _mm512_load_si512(bits), high = _mm512_load_si512(bits + 32);
  const __m512i ones = _mm512_set1_epi64(1);
  for (size_t j = 0; j < view.padded; j += 64) {
    __m512i address = _mm512_setzero_si512();
    for (size_t l = 0; l < view.arity; ++l) {
      const __m512i byte =
          _mm512_permutex2var_epi8(low, _mm512_loadu_si512(view.pick_byte + l * view.padded + j), high);
      const __mmask64 set = _mm512_test_epi8_mask(byte, _mm512_loadu_si512(view.pick_bit + l * view.padded + j));
      address = _mm512_mask_add_epi8(address, set, address, _mm512_set1_epi8(static_cast<char>(1 << l)));
    }
    alignas(64) uint8_t addresses[64];
    _mm512_store_si512(addresses, address);
    uint64_t word = 0;
#pragma GCC unroll 8
    for (size_t i = 0; i < 64; i += 8) {
      const __m512i of = _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(addresses + i)));
      const __m512i entry = _mm512_srlv_epi64(_mm512_loadu_si512(view.padded_tables + j + i), of);
      word |= uint64_t{_mm512_test_epi64_mask(entry, ones)} << i;
    }
    words[j / 64] = word;
  }
}
#endif

void first_layer(const PackedView& view, const float* row, uint64_t* words) {
  // Whole registers: what lies behind the row's end is read by no table, but must be there.
  alignas(64) float whole[kWindow];
  if (view.inputs <= kWindow) {
    std::memset(whole, 0, sizeof(whole));
    std::memcpy(whole, row, view.inputs * sizeof(float));
    row = whole;
  }
#if defined(__AVX512VBMI__)
  if (view.groups > 0) return picked_tables(view, row, words);
#endif
  if (view.inputs <= kWindow) return sixteen_tables<true>(view, row, words);
  sixteen_tables<false>(view, row, words);
}

#elif defined(__AVX2__)

void first_layer(const PackedView& view, const float* row, uint64_t* words) {
  uint64_t word = 0;
  for (size_t j = 0; j < view.padded; j += 8) {
    __m256i address = _mm256_setzero_si256();
    for (size_t l = 0; l < view.arity; ++l) {
      const __m256i input = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(view.read_input + l * view.padded + j));
      const __m256 value = _mm256_i32gather_ps(row, input, 4);
      const __m256 set = _mm256_cmp_ps(value, _mm256_loadu_ps(view.read_threshold + l * view.padded + j), _CMP_GT_OQ);
      address = _mm256_or_si256(address, _mm256_and_si256(_mm256_castps_si256(set), _mm256_set1_epi32(1 << l)));
    }
    const auto shifted = [&](__m128i of, size_t at) {
      const __m256i tables = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(view.padded_tables + at));
      // The lowest bit to the sign, which is what a mask is made of.
      const __m256i bits = _mm256_slli_epi64(_mm256_srlv_epi64(tables, _mm256_cvtepu32_epi64(of)), 63);
      return uint64_t{static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(bits)))};
    };
    const uint64_t out =
        shifted(_mm256_castsi256_si128(address), j) | shifted(_mm256_extracti128_si256(address, 1), j + 4) << 4U;
    word |= out << (j % 64);
    if (j % 64 == 56) {
      words[j / 64] = word;
      word = 0;
    }
  }
}

#else

void first_layer(const PackedView& view, const float* row, uint64_t* words) {
  uint64_t word = 0;
  for (size_t j = 0; j < view.padded; ++j) {
    size_t address = 0;
    for (size_t l = 0; l < view.arity; ++l) {
      const size_t read = l * view.padded + j;
      address |= size_t{row[view.read_input[read]] > view.read_threshold[read]} << l;
    }
    word |= (view.padded_tables[j] >> address & 1U) << (j % 64);
    if (j % 64 == 63) {
      words[j / 64] = word;
      word = 0;
    }
  }
}

#endif

}  // namespace
}  // namespace perfcast
