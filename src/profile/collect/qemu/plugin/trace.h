/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces: pieces of what ran, block by block, with the addresses of memory
 * accesses, where each was found and how branches were guessed. README.md has
 * the format. Pieces are drawn within the first phase, at intervals that double
 * up to a quarter of it, and at the start of windows. One thread at a time has
 * its piece taken. When there are too many, every second one is given up and what
 * it stood for is added to the one before it. */
#ifndef PERFCAST_QEMU_TRACE_H
#define PERFCAST_QEMU_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"
#include "vcpu.h"

struct pq_trace {
  bool on;
  /* Whose piece is being taken; NULL: nobody's. Others only compare it with themselves. */
  struct pq_vcpu* owner;
};
extern struct pq_trace pq_trace;

/* What a block is made of, for the file; `sizes` in bytes of code. Call under the translation lock. */
void pq_trace_remember(struct pq_block* b, const struct pq_insn* insns, const uint8_t* sizes, size_t n);

/* The owner is about to run `b`. `missed`: the branch before it was guessed wrong; `again`: one more iteration of a
 * repeated string instruction. */
void pq_trace_block(struct pq_block* b, bool missed, bool again);
/* `found`: pq_mem's `held` and `page_held`; `is`: of an access that only the emulator knows, log2 of its size and 128
 * for stores. */
void pq_trace_access(struct pq_block* b, const struct pq_watched* w, uint64_t address, unsigned found, unsigned is);

/* A window begins that stands for so many instructions; after it each vCPU begins it, or another phase. */
void pq_trace_window(uint64_t stands_for);
void pq_trace_phase(struct pq_vcpu* v);
/* The piece being taken ends here. */
void pq_trace_stop(void);
void pq_trace_forked(void);
/* The block or its data may begin a piece: v->passed.instructions >= v->trace_due. */
void pq_trace_begin(struct pq_vcpu* v);

/* Guesses that were wrong so far. */
static inline uint64_t pq_trace_missed(const struct pq_vcpu* v) {
  const struct pq_branch_counts* c = &v->predictors->counts;
  return c->tage_miss[0] + c->indirect_history_miss + c->return_miss;
}

/* False: not written. */
bool pq_trace_write(const char* path, enum pq_arch arch);

#endif
