/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caches and TLBs of one vCPU. One pass over the accesses yields several
 * sizes: an LRU cache of fewer ways or lines holds the top of the recency
 * order of a larger one with the same sets. */
#ifndef PERFCAST_QEMU_MEMORY_SIM_H
#define PERFCAST_QEMU_MEMORY_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lru_stack.h"

enum {
  PQ_LINE_BITS = 6,
  PQ_PAGE_BITS = 12,
  PQ_L1_SETS = 64,
  PQ_L1_WAYS = 16, /* 8, 12 and 16 ways: 32, 48 and 64 KiB */
  PQ_TLB_SETS = 16,
  PQ_TLB_WAYS = 4,
  PQ_STLB_SETS = 128,
  PQ_STLB_WAYS = 16, /* 12 and 16 ways: 1536 and 2048 entries */
  PQ_STREAMS = 16,
  PQ_RECENT_STORES = 32,
  PQ_N_L1 = 3 /* 32, 48, 64 KiB */
};

struct pq_mem_counts {
  uint64_t l1[PQ_N_L1][2][2];           /* [the largest size missed][store][sequential] */
  uint64_t large[PQ_N_LARGE + 1][2][2]; /* [the size that held it, or 9][store][sequential] */
  uint64_t tlb_miss, stlb_1536_miss, stlb_2048_miss;
  uint64_t line_crossing_loads, line_crossing_stores;
  uint64_t forwarded_loads;
  uint64_t icache_32k_miss, icache_64k_miss;
};

struct pq_footprint {
  uint64_t* pages; /* page number + 1, 0: free; open addressing */
  uint64_t* lines; /* bit per line of the page */
  size_t capacity, used, last;
};

/* A set of 16 ways: tags in any order, and their order of use as 16 numbers of
 * 4 bits, the most recent lowest. No loop, no unpredictable branch. */
struct pq_set {
  uint32_t tag[PQ_L1_WAYS] __attribute__((aligned(16)));
  uint64_t order;
};

struct pq_mem {
  /* the path of a hit touches only these */
  uint64_t l1_first[PQ_L1_SETS];
  uint64_t tlb_first[PQ_TLB_SETS];
  uint64_t recent_stores[PQ_RECENT_STORES]; /* 8-byte words, direct-mapped */
  struct pq_mem_counts counts;
  uint64_t part_next; /* wide accesses arrive in parts */
  unsigned parts_left;
  uint64_t icache_first[PQ_L1_SETS];

  struct pq_set l1[PQ_L1_SETS];
  uint64_t icache[PQ_L1_SETS][PQ_L1_WAYS - 1];
  uint64_t tlb[PQ_TLB_SETS][PQ_TLB_WAYS - 1];
  uint64_t stlb[PQ_STLB_SETS][PQ_STLB_WAYS];
  uint32_t streams[PQ_STREAMS] __attribute__((aligned(16))); /* low bits of lines */
  unsigned next_stream;
  /* of the latest access: the smallest cache that held the line, 0: 32 KiB, 48, 64, 256 << 0..8, 12: none, 15: it
   * missed 64 KiB and is not among the lines followed; and TLB: 0: 64 entries, 1: 1536, 2: 2048, 3: none. Whoever wants
   * to know them sets them to 0 before. */
  uint8_t held, page_held;
  unsigned sample_bits; /* the stack follows one line in 1 << sample_bits */
  struct pq_stack* stack;
  struct pq_footprint footprint;
};

void pq_mem_init(struct pq_mem* m);
/* Zeroes the counts and forgets the footprint; caches stay warm. */
void pq_mem_reset_counts(struct pq_mem* m);

/* An access that did not hit the most recent line and page of its sets, or
 * crosses a line. */
void pq_mem_slow(struct pq_mem* m, uint64_t address, uint64_t last_byte, bool store);
void pq_mem_fetch_slow(struct pq_mem* m, uint64_t first_line, uint64_t last_line);

void pq_footprint_add(struct pq_footprint* f, uint64_t page, uint64_t lines);

#define PQ_LIKELY(x) __builtin_expect(!!(x), 1)
#define PQ_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* One test for the common case: the line and the page are the most recent ones
 * of their sets and the access stays inside the line. The rest is a tail call. */
static inline void pq_mem_access(struct pq_mem* m, uint64_t address, uint64_t last_byte, bool store) {
  uint64_t word = address >> 3, line = address >> PQ_LINE_BITS, page = address >> PQ_PAGE_BITS;
  uint64_t* recent = &m->recent_stores[word % PQ_RECENT_STORES];
  if (store)
    *recent = word;
  else
    m->counts.forwarded_loads += *recent == word;
  uint64_t differs = (m->l1_first[line % PQ_L1_SETS] ^ line) | (m->tlb_first[page % PQ_TLB_SETS] ^ page) |
                     (((address & 63) + last_byte) & ~UINT64_C(63));
  if (PQ_UNLIKELY(differs)) pq_mem_slow(m, address, last_byte, store);
}

/* The same, counted in `to`. */
static inline void pq_mem_access_apart(struct pq_mem* m, uint64_t address, uint64_t last_byte, bool store,
                                       struct pq_mem_counts* to) {
  const struct pq_mem_counts before = m->counts;
  const uint64_t *then = (const uint64_t*)&before, *now = (const uint64_t*)&m->counts;
  pq_mem_access(m, address, last_byte, store);
  for (size_t i = 0; i < sizeof before / sizeof *now; i++) ((uint64_t*)to)[i] += now[i] - then[i];
  m->counts = before;
}

static inline bool pq_mem_is_hit(const struct pq_mem* m, uint64_t address, uint64_t last_byte) {
  uint64_t line = address >> PQ_LINE_BITS, page = address >> PQ_PAGE_BITS;
  return !((m->l1_first[line % PQ_L1_SETS] ^ line) | (m->tlb_first[page % PQ_TLB_SETS] ^ page) |
           (((address & 63) + last_byte) & ~UINT64_C(63)));
}

static inline bool pq_mem_fetched(const struct pq_mem* m, uint64_t first, uint64_t last) {
  return !((m->icache_first[first % PQ_L1_SETS] ^ first) | (m->icache_first[last % PQ_L1_SETS] ^ last) |
           ((last - first) >> 1));
}

#endif
