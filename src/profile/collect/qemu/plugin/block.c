/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "block.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "dependency.h"
#include "memory_sim.h"

enum { BUCKETS = 1 << 16 };

static struct pq_block* buckets[BUCKETS];
static struct pq_block** directory[PQ_MAX_CHUNKS];
static struct pq_count* counts0[PQ_MAX_CHUNKS];
static _Atomic uint32_t total;

uint32_t pq_block_total(void) { return atomic_load_explicit(&total, memory_order_acquire); }
struct pq_block* pq_block_at(uint32_t id) {
  return directory[id >> PQ_CHUNK_BITS][id & (PQ_CHUNK - 1)];
}
struct pq_count* pq_count0_chunk(uint32_t chunk) {
  return counts0[chunk];
}

static struct pq_block* block_new(void) {
  uint32_t id = atomic_load_explicit(&total, memory_order_relaxed), chunk = id >> PQ_CHUNK_BITS;
  if (chunk >= PQ_MAX_CHUNKS) return NULL;
  if (!directory[chunk]) directory[chunk] = calloc(PQ_CHUNK, sizeof *directory[chunk]);
  if (!counts0[chunk]) counts0[chunk] = calloc(PQ_CHUNK, sizeof *counts0[chunk]);
  struct pq_block* b = calloc(1, sizeof *b);
  if (!directory[chunk] || !counts0[chunk] || !b) {
    free(b);
    return NULL;
  }
  b->id = id;
  b->count0 = &counts0[chunk][id & (PQ_CHUNK - 1)];
  directory[chunk][id & (PQ_CHUNK - 1)] = b;
  return b;
}

struct pq_block* pq_block_find(uint64_t pc, uint32_t n_bytes, uint64_t hash, bool* is_new) {
  struct pq_block** bucket = &buckets[((pc >> 1) ^ (pc >> 17)) & (BUCKETS - 1)];
  *is_new = false;
  for (struct pq_block* b = *bucket; b; b = b->next)
    if (b->pc == pc && b->n_bytes == n_bytes && b->hash == hash) return b;
  struct pq_block* b = block_new();
  if (!b) return NULL;
  b->pc = pc;
  b->n_bytes = n_bytes;
  b->hash = hash;
  b->next = *bucket;
  *bucket = b;
  *is_new = true;
  atomic_store_explicit(&total, b->id + 1, memory_order_release);
  return b;
}

static void add(uint16_t* stat, unsigned value) {
  unsigned sum = *stat + value;
  *stat = (uint16_t)(sum > UINT16_MAX ? UINT16_MAX : sum);
}

/* log2 of the access size, rounded up, as an index from 1-byte accesses */
static unsigned size_index(unsigned size) {
  unsigned i = 0;
  while (i < 6 && (1u << i) < size) i++;
  return i;
}

static void add_memory(struct pq_block* b, const struct pq_insn* i) {
  uint16_t* s = b->stat;
  add(&s[PQ_S_LOADS], i->n_load);
  add(&s[PQ_S_STORES], i->n_store);
  add(&s[PQ_S_LOADS_1 + size_index(i->load_size)], i->n_load);
  add(&s[PQ_S_STORES_1 + size_index(i->store_size)], i->n_store);
  add(&s[PQ_S_LOAD_BYTES], (unsigned)i->n_load * i->load_size);
  add(&s[PQ_S_STORE_BYTES], (unsigned)i->n_store * i->store_size);
  add(&s[PQ_S_LOAD_INSTRUCTIONS], i->n_load != 0);
  add(&s[PQ_S_STORE_INSTRUCTIONS], i->n_store != 0);
}

static void add_vector(struct pq_block* b, const struct pq_insn* i) {
  unsigned first = i->vec_fp ? PQ_S_VEC_FP_64 : PQ_S_VEC_INT_64;
  unsigned width = i->vec_words >= 8 ? 3 : i->vec_words >= 4 ? 2 : i->vec_words >= 2 ? 1 : 0;
  add(&b->stat[first + width], 1);
}

static void add_insn(struct pq_block* b, const struct pq_insn* i) {
  uint16_t* s = b->stat;
  add(&s[i->op], 1);
  if (i->vec_words) add_vector(b, i);
  add(&s[PQ_S_SVE], i->sve);
  add(&s[PQ_S_UNDECODED], i->undecoded);
  add(&s[PQ_S_ZERO_IDIOMS], i->zero_idiom);
  add(&s[PQ_S_INT_MUL_WIDE], i->mul_wide);
  if (i->div_size) add(&s[i->div_size == 8 ? PQ_S_INT_DIV_64 : PQ_S_INT_DIV_32], 1);
  if (i->fp_size) {
    bool is_double = i->fp_size == 8;
    add(&s[is_double ? PQ_S_FP_DOUBLE : PQ_S_FP_SINGLE], 1);
    add(&s[is_double ? PQ_S_FLOPS_DOUBLE : PQ_S_FLOPS_SINGLE], i->flops);
  }
  if (!i->is_rep) {
    add_memory(b, i);
  } else {
    b->rep_loads = i->n_load;
    b->rep_stores = i->n_store;
    b->rep_size = (uint8_t)i->load_size;
  }
}

/* QEMU 7.2 leaves a block from its last instruction, where that is by a helper,
 * without forgetting whom to call back: the next helper that touches memory would
 * call, when the translation may be gone. So the last one is not watched: a call,
 * return or jump through memory, which nearly always touches the first-level cache
 * (the top of the stack, a table of addresses), or what happens to end a page. A
 * repeated string instruction is, where both its ways out lie in its page. */
static bool leaves_block(const struct pq_block* b, const struct pq_insn* i, bool is_last) {
  const uint64_t page = b->pc >> PQ_PAGE_BITS;
  const bool leaves_page = page != b->last_pc >> PQ_PAGE_BITS || page != b->fall_through >> PQ_PAGE_BITS;
  return is_last && (!i->is_rep || leaves_page);
}

static bool is_watched(const struct pq_block* b, const struct pq_insn* i, bool is_last, struct pq_watched* w) {
  if (!i->n_load && !i->n_store && !i->mem_unknown) return false;
  if (leaves_block(b, i, is_last)) return false;
  w->access = PQ_A_UNKNOWN;
  w->last_byte = 0;
  if (i->mem_unknown || i->n_load + i->n_store != 1) return true;
  const unsigned size = i->n_load ? i->load_size : i->store_size;
  if (size > 8 && (size % 8 || size > 64)) return true;
  w->access = (i->n_load ? PQ_A_LOAD : PQ_A_STORE) + (size > 8 ? PQ_A_WIDE_LOAD - PQ_A_LOAD : 0);
  w->last_byte = (uint8_t)(size - 1);
  return true;
}

/* Without memory for it the block's accesses are not watched. */
static void remember_watched(struct pq_block* b, const struct pq_insn* insns, size_t n) {
  struct pq_watched w;
  size_t count = 0;
  for (size_t i = 0; i < n; i++) count += is_watched(b, &insns[i], i + 1 == n, &w);
  if (!count || !(b->watched = malloc(count * sizeof *b->watched))) return;
  for (size_t i = 0; i < n; i++) {
    if (!is_watched(b, &insns[i], i + 1 == n, &w)) continue;
    w.insn = (uint16_t)i;
    w.is_string = insns[i].is_rep;
    w.is_atomic = insns[i].op == PQ_OP_ATOMIC;
    b->watched[b->n_watched++] = w;
  }
}

void pq_block_analyse(struct pq_block* b, const struct pq_insn* insns, size_t n, uint64_t last_pc) {
  b->n_insns = (uint16_t)n;
  b->last_pc = last_pc;
  b->fall_through = b->pc + b->n_bytes;
  b->first_line = b->pc >> 6;
  b->last_line = (b->fall_through - 1) >> 6;
  b->branch = insns[n - 1].branch;
  b->ends_with_rep = insns[n - 1].is_rep;
  b->is_rep = b->ends_with_rep && n == 1;
  for (size_t i = 0; i < n; i++) add_insn(b, &insns[i]);
  add(&b->stat[PQ_S_ILINES], (unsigned)(b->last_line - b->first_line + 1));
  b->n_accesses = (uint16_t)(b->stat[PQ_S_LOADS] + b->stat[PQ_S_STORES]);
  b->n_lines = b->stat[PQ_S_ILINES];
  pq_dependencies(insns, n, b->stat, b->self);
  remember_watched(b, insns, n);
}
