// The kernels of one path. Included by packed_*.cc alone, which are compiled for their instructions: nothing here may
// have a name that another file's could be merged with.

#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "learn/weightless/packed_first_layer_body.h"
#include "learn/weightless/packed_kernels.h"

namespace perfcast {
namespace {

#if defined(__AVX512F__)
constexpr size_t kWords = 8;
#elif defined(__AVX2__)
constexpr size_t kWords = 4;
#else
constexpr size_t kWords = 1;
#endif
constexpr size_t kRows = 64 * kWords;
constexpr size_t kTableBits = 6;
// From one column of numbers to the next: not a power of two, which would put all columns into the same sets of a
// cache.
constexpr size_t kPitch = kRows + 16;

// A bit of each row of a block.
typedef uint64_t Bits __attribute__((vector_size(8 * kWords), may_alias));

// Where `which` is set, `one`; else `zero`.
inline Bits select(Bits which, Bits one, Bits zero) { return (which & one) | (~which & zero); }

// The room: columns of numbers, then the bits of one layer and those of the next.
size_t room_words(const PackedView& view) { return view.inputs * kPitch / 2 + 2 * view.most_bits * kWords; }

// Which of a block's numbers lie above a threshold.
inline void above(const float* column, float threshold, uint64_t* words) {
#if defined(__AVX512F__)
  const __m512 limit = _mm512_set1_ps(threshold);
  for (size_t w = 0; w < kWords; ++w) {
    uint64_t word = 0;
    for (size_t part = 0; part < 4; ++part) {
      const __m512 values = _mm512_load_ps(column + 64 * w + 16 * part);
      word |= uint64_t{_mm512_cmp_ps_mask(values, limit, _CMP_GT_OQ)} << (16 * part);
    }
    words[w] = word;
  }
#elif defined(__AVX2__)
  const __m256 limit = _mm256_set1_ps(threshold);
  for (size_t w = 0; w < kWords; ++w) {
    uint64_t word = 0;
    for (size_t part = 0; part < 8; ++part) {
      const __m256 values = _mm256_load_ps(column + 64 * w + 8 * part);
      const int mask = _mm256_movemask_ps(_mm256_cmp_ps(values, limit, _CMP_GT_OQ));
      word |= uint64_t{static_cast<uint32_t>(mask)} << (8 * part);
    }
    words[w] = word;
  }
#else
  uint64_t word = 0;
  for (size_t r = 0; r < kRows; ++r) word |= uint64_t{column[r] > threshold} << r;
  words[0] = word;
#endif
}

// A table of 64 entries: all sixteen functions of its two lowest bits once, then a tree of selections.
inline Bits table_output(uint64_t table, const Bits* v) {
  const Bits zero = {}, ones = ~zero;
  const Bits both = v[0] & v[1], only0 = v[0] & ~v[1], only1 = ~v[0] & v[1], none = ~(v[0] | v[1]);
  // Entry a of a nibble is bit a: the address is bit 0 of v[0], bit 1 of v[1].
  const Bits functions[16] = {zero, none,        only0, none | only0, only1, none | only1, only0 | only1, ~both,
                              both, none | both, v[0],  ~only1,       v[1],  ~only0,       v[0] | v[1],   ones};
  Bits at[16];
  for (size_t i = 0; i < 16; ++i) at[i] = functions[table >> (4 * i) & 15U];
  for (size_t i = 0; i < 8; ++i) at[i] = select(v[2], at[2 * i + 1], at[2 * i]);
  for (size_t i = 0; i < 4; ++i) at[i] = select(v[3], at[2 * i + 1], at[2 * i]);
  for (size_t i = 0; i < 2; ++i) at[i] = select(v[4], at[2 * i + 1], at[2 * i]);
  return select(v[5], at[1], at[0]);
}

constexpr size_t kCountBits = 21;  // more votes than a layer may have tables

// Ripples one vote of each row through the counters; from level `used` on they are still 0.
inline void add_vote(Bits vote, Bits* count, size_t used) {
  for (size_t level = 0; level < used; ++level) {
    const Bits carry = count[level] & vote;
    count[level] ^= vote;
    vote = carry;
  }
  count[used] |= vote;
}

// 64 rows to columns, from which `above` compares. They stay in the first-level cache while each column takes its own.
inline void turn(const float* rows, size_t inputs, float* columns) {
  size_t input = 0;
#if defined(__SSE2__)
  for (; input + 4 <= inputs; input += 4) {
    for (size_t r = 0; r < 64; r += 4) {
      const float* const from = rows + r * inputs + input;
      __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + inputs);
      __m128 c = _mm_loadu_ps(from + 2 * inputs), d = _mm_loadu_ps(from + 3 * inputs);
      _MM_TRANSPOSE4_PS(a, b, c, d);
      float* const to = columns + input * kPitch + r;
      _mm_storeu_ps(to, a);
      _mm_storeu_ps(to + kPitch, b);
      _mm_storeu_ps(to + 2 * kPitch, c);
      _mm_storeu_ps(to + 3 * kPitch, d);
    }
  }
#endif
  for (; input < inputs; ++input) {
    for (size_t r = 0; r < 64; ++r) columns[input * kPitch + r] = rows[r * inputs + input];
  }
}

// Bits of the block's rows at the last layer.
const Bits* layers_bits(const PackedView& view, const float* rows, uint64_t* room) {
  float* const columns = reinterpret_cast<float*>(room);
  for (size_t first = 0; first < kRows; first += 64) turn(rows + first * view.inputs, view.inputs, columns + first);
  Bits* bits = reinterpret_cast<Bits*>(room + view.inputs * kPitch / 2);
  Bits* next = bits + view.most_bits;
  for (size_t bit = 0; bit < view.bits; ++bit)
    above(columns + view.bit_input[bit] * kPitch, view.bit_threshold[bit], reinterpret_cast<uint64_t*>(bits + bit));
  for (size_t l = 0; l < view.layer_count; ++l) {
    const PackedLayerView& layer = view.layers[l];
    for (size_t j = 0; j < layer.luts; ++j) {
      Bits read[kTableBits];
      for (size_t i = 0; i < layer.arity; ++i) read[i] = bits[layer.mapping[j * layer.arity + i]];
      for (size_t i = layer.arity; i < kTableBits; ++i) read[i] = Bits{};
      next[j] = table_output(layer.tables[j], read);
    }
    Bits* const free = bits;
    bits = next;
    next = free;
  }
  return bits;
}

void block_best(const PackedView& view, const float* rows, uint64_t* room, uint8_t* best) {
  const Bits* const bits = layers_bits(view, rows, room);
  const size_t luts = view.layers[view.layer_count - 1].luts;
  // As many bits as all votes could need.
  size_t levels = 1;
  while (luts >> levels != 0) ++levels;
  Bits most[kCountBits + 1], count[kCountBits + 1], index[8] = {};
  for (size_t level = 0; level < levels; ++level) most[level] = Bits{};
  size_t j = 0;
  // Tables of one class stand beside each other.
  for (size_t c = 0; c < view.outputs; ++c) {
    for (size_t level = 0; level <= levels; ++level) count[level] = Bits{};  // one more: where the last carry goes
    size_t used = 0, votes = 0;
    for (; j < luts && view.vote[j] == c; ++j) {
      // As many bits as the votes so far can need.
      while ((size_t{1} << used) <= votes) ++used;
      ++votes;
      add_vote(bits[j], count, used);
    }
    Bits more = {}, same = ~Bits{};
    for (size_t level = levels; level-- > 0;) {
      more |= same & count[level] & ~most[level];
      same &= ~(count[level] ^ most[level]);
    }
    // The first class has nothing to be more than: `most` is 0, and `index` is its own already.
    for (size_t level = 0; level < levels; ++level) most[level] = select(more, count[level], most[level]);
    for (size_t plane = 0; plane < 8; ++plane)
      index[plane] = (c >> plane & 1U) != 0 ? index[plane] | more : index[plane] & ~more;
  }
  size_t planes = 0;
  while ((size_t{1} << planes) < view.outputs) ++planes;
  for (size_t w = 0; w < kWords; ++w) {
    uint8_t* const to = best + 64 * w;
#if defined(__AVX512BW__)
    __m512i found = _mm512_setzero_si512();
    for (size_t plane = 0; plane < planes; ++plane) {
      const __m512i value = _mm512_maskz_set1_epi8(index[plane][w], static_cast<char>(1U << plane));
      found = _mm512_or_si512(found, value);
    }
    _mm512_storeu_si512(to, found);
#else
    for (size_t r = 0; r < 64; ++r) {
      unsigned found = 0;
      for (size_t plane = 0; plane < planes; ++plane)
        found |= static_cast<unsigned>(index[plane][w] >> r & 1U) << plane;
      to[r] = static_cast<uint8_t>(found);
    }
#endif
  }
}

}  // namespace
}  // namespace perfcast
