/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory_sim.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

void pq_mem_init(struct pq_mem* m) {
  memset(m, 0xff, sizeof *m);
  memset(&m->counts, 0, sizeof m->counts);
  memset(&m->footprint, 0, sizeof m->footprint);
  m->parts_left = 0;
  m->next_stream = m->sample_bits = 0;
  m->stack = NULL;
  for (unsigned i = 0; i < PQ_L1_SETS; i++) m->l1[i].order = 0xfedcba9876543210u;
}

void pq_mem_reset_counts(struct pq_mem* m) {
  memset(&m->counts, 0, sizeof m->counts);
  free(m->footprint.pages);
  free(m->footprint.lines);
  memset(&m->footprint, 0, sizeof m->footprint);
}

/* Puts tag in front of the n others of its set, oldest out. Returns its former
 * place, n when it was not there. */
static inline unsigned to_front(uint64_t* first, uint64_t* rest, unsigned n, uint64_t tag) {
  uint64_t moved = *first;
  *first = tag;
  for (unsigned i = 0; i < n; i++) {
    uint64_t here = rest[i];
    rest[i] = moved;
    if (here == tag) return i;
    moved = here;
  }
  return n;
}

static size_t footprint_slot(const struct pq_footprint* f, uint64_t page) {
  size_t mask = f->capacity - 1, i = (page * 0x9e3779b97f4a7c15u >> 20) & mask;
  while (f->pages[i] && f->pages[i] != page + 1) i = (i + 1) & mask;
  return i;
}

static bool footprint_grow(struct pq_footprint* f) {
  struct pq_footprint bigger = {.capacity = f->capacity ? f->capacity * 2 : 256, .used = f->used};
  bigger.pages = calloc(bigger.capacity, sizeof *bigger.pages);
  bigger.lines = calloc(bigger.capacity, sizeof *bigger.lines);
  if (!bigger.pages || !bigger.lines) {
    free(bigger.pages);
    free(bigger.lines);
    return false;
  }
  for (size_t i = 0; i < f->capacity; i++) {
    if (!f->pages[i]) continue;
    size_t to = footprint_slot(&bigger, f->pages[i] - 1);
    bigger.pages[to] = f->pages[i];
    bigger.lines[to] = f->lines[i];
  }
  free(f->pages);
  free(f->lines);
  *f = bigger;
  return true;
}

void pq_footprint_add(struct pq_footprint* f, uint64_t page, uint64_t lines) {
  if (f->capacity && f->pages[f->last] == page + 1) {
    f->lines[f->last] |= lines;
    return;
  }
  if (f->used * 2 >= f->capacity && !footprint_grow(f)) return;
  size_t i = footprint_slot(f, page);
  if (!f->pages[i]) {
    f->pages[i] = page + 1;
    f->used++;
  }
  f->lines[i] |= lines;
  f->last = i;
}

#ifdef __SSE2__
static inline unsigned equal_mask(const uint32_t* at, uint32_t value) {
  const __m128i *v = (const __m128i*)at, x = _mm_set1_epi32((int)value);
  __m128i a = _mm_packs_epi32(_mm_cmpeq_epi32(v[0], x), _mm_cmpeq_epi32(v[1], x));
  __m128i b = _mm_packs_epi32(_mm_cmpeq_epi32(v[2], x), _mm_cmpeq_epi32(v[3], x));
  return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(a, b));
}
/* Which of 16 numbers lie in value - 1 .. value + 1? */
static inline unsigned near_mask(const uint32_t* at, uint32_t value) {
  const __m128i *v = (const __m128i*)at, limit = _mm_set1_epi32((int)0x80000003u);
  __m128i x = _mm_set1_epi32((int)(0x80000001u - value)); /* signed compare of x - low + 2^31 */
  __m128i a =
      _mm_packs_epi32(_mm_cmpgt_epi32(limit, _mm_add_epi32(v[0], x)), _mm_cmpgt_epi32(limit, _mm_add_epi32(v[1], x)));
  __m128i b =
      _mm_packs_epi32(_mm_cmpgt_epi32(limit, _mm_add_epi32(v[2], x)), _mm_cmpgt_epi32(limit, _mm_add_epi32(v[3], x)));
  return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(a, b));
}
#else
static inline unsigned near_mask(const uint32_t* at, uint32_t value) {
  unsigned mask = 0;
  for (unsigned i = 0; i < 16; i++) mask |= (unsigned)(at[i] - value + 1 <= 2) << i;
  return mask;
}
static inline unsigned equal_mask(const uint32_t* at, uint32_t value) {
  unsigned mask = 0;
  for (unsigned i = 0; i < 16; i++) mask |= (unsigned)(at[i] == value) << i;
  return mask;
}
#endif

/* Makes the tag the most recent of its set. Returns its former place, 16 when
 * it was not there. */
static inline unsigned set_access(struct pq_set* s, uint32_t tag) {
  const uint64_t ones = 0x1111111111111111u;
  unsigned mask = equal_mask(s->tag, tag);
  unsigned way = mask ? (unsigned)__builtin_ctz(mask) : (unsigned)(s->order >> 60);
  uint64_t x = s->order ^ (way * ones);
  unsigned at = (unsigned)__builtin_ctzll((x - ones) & ~x & (ones << 3)) & ~3u;
  uint64_t newer = s->order & ((UINT64_C(1) << at) - 1), older = s->order >> at >> 4 << at << 4;
  s->order = older | newer << 4 | way;
  s->tag[way] = tag;
  return mask ? at / 4 : PQ_L1_WAYS;
}

/* Next to a line of one of the recent miss streams? */
static inline bool sequential(struct pq_mem* m, uint64_t line) {
  uint32_t l = (uint32_t)line;
  unsigned mask = near_mask(m->streams, l);
  unsigned at = mask ? (unsigned)__builtin_ctz(mask) : m->next_stream++ % PQ_STREAMS;
  m->streams[at] = l;
  return mask != 0;
}

static inline void missed(struct pq_mem* m, uint64_t line, unsigned place, bool store) {
  bool seq = sequential(m, line);
  bool missed_all = place == PQ_L1_WAYS;
  m->counts.l1[(place >= 12) + missed_all][store][seq]++;
  m->held = missed_all ? 15 : place >= 12 ? 2 : 1;
  if (missed_all) {
    pq_footprint_add(&m->footprint, line >> (PQ_PAGE_BITS - PQ_LINE_BITS), UINT64_C(1) << (line & 63));
  }
  if (!pq_in_sample(line, m->sample_bits) || (!m->stack && !(m->stack = pq_stack_new()))) return;
  unsigned weight = 1u << m->sample_bits;
  unsigned held_by = pq_stack_access(m->stack, line, &m->sample_bits);
  if (!missed_all) return;
  m->counts.large[held_by][store][seq] += weight;
  m->held = (uint8_t)(3 + held_by);
}

static void touch_page(struct pq_mem* m, uint64_t page) {
  unsigned set = page % PQ_TLB_SETS;
  if (to_front(&m->tlb_first[set], m->tlb[set], PQ_TLB_WAYS - 1, page) < PQ_TLB_WAYS - 1) return;
  m->counts.tlb_miss++;
  m->page_held = 1;
  uint64_t* second = m->stlb[page % PQ_STLB_SETS];
  if (second[0] == page) return;
  unsigned place = 1 + to_front(&second[0], second + 1, PQ_STLB_WAYS - 1, page);
  m->counts.stlb_1536_miss += place >= 12;
  m->counts.stlb_2048_miss += place >= 16;
  m->page_held = place >= 16 ? 3 : place >= 12 ? 2 : 1;
}

static inline void touch(struct pq_mem* m, uint64_t address, bool store) {
  uint64_t page = address >> PQ_PAGE_BITS, line = address >> PQ_LINE_BITS;
  if (PQ_UNLIKELY(m->tlb_first[page % PQ_TLB_SETS] != page)) touch_page(m, page);
  unsigned set = line % PQ_L1_SETS;
  if (PQ_UNLIKELY(m->l1_first[set] == line)) return;
  m->l1_first[set] = line;
  uint64_t above = line / PQ_L1_SETS;
  unsigned place = set_access(&m->l1[set], (uint32_t)(above ^ above >> 32));
  if (place >= 8) missed(m, line, place, store);
}

static __attribute__((noinline)) void crossing(struct pq_mem* m, uint64_t address, uint64_t last_byte, bool store) {
  if (store)
    m->counts.line_crossing_stores++;
  else
    m->counts.line_crossing_loads++;
  touch(m, address, store);
  touch(m, address + last_byte, store);
}

void pq_mem_slow(struct pq_mem* m, uint64_t address, uint64_t last_byte, bool store) {
  if (PQ_UNLIKELY((address & 63) + last_byte > 63))
    crossing(m, address, last_byte, store);
  else
    touch(m, address, store);
}

void pq_mem_fetch_slow(struct pq_mem* m, uint64_t first_line, uint64_t last_line) {
  for (uint64_t line = first_line; line <= last_line; line++) {
    unsigned set = line % PQ_L1_SETS;
    if (m->icache_first[set] == line) continue;
    unsigned place = to_front(&m->icache_first[set], m->icache[set], PQ_L1_WAYS - 1, line);
    m->counts.icache_32k_miss += place >= 7;
    m->counts.icache_64k_miss += place >= PQ_L1_WAYS - 1;
  }
}
