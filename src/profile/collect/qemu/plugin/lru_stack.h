/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recency order of the lines behind the first-level cache. */
#ifndef PERFCAST_QEMU_LRU_STACK_H
#define PERFCAST_QEMU_LRU_STACK_H

#include <stdbool.h>
#include <stdint.h>

enum { PQ_N_LARGE = 9 /* sizes of caches: 256 KiB << i */ };

struct pq_stack;

/* NULL: no memory. */
struct pq_stack* pq_stack_new(void);
/* The smallest large cache (0..8) that holds the line, 9 for none. Call only for
 * lines in the sample; *sample_bits can change. */
unsigned pq_stack_access(struct pq_stack* s, uint64_t line, unsigned* sample_bits);

static inline bool pq_in_sample(uint64_t line, unsigned bits) {
  return (line * 0x9e3779b97f4a7c15u) >> 32 >> (32 - bits) == 0;
}

#endif
