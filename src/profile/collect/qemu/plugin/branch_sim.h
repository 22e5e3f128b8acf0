/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Branch predictors of one vCPU, all run side by side. Conditional branches are
 * all simulated at first; later, to save time, only in bursts, a sixteenth of
 * them. The tables keep what they learned in between. */
#ifndef PERFCAST_QEMU_BRANCH_SIM_H
#define PERFCAST_QEMU_BRANCH_SIM_H

#include <stdbool.h>
#include <stdint.h>

enum {
  PQ_BIMODAL = 4096,
  PQ_GSHARE = 16384,
  PQ_TAGE_TABLES = 4,
  PQ_TAGE_SIZE = 1024,
  PQ_RAS = 16,
  PQ_TARGETS = 1024,
  PQ_HISTORY_TARGETS = 4096
};

struct pq_branch_counts {
  uint64_t taken; /* of all conditional branches */
  /* [0] while all were simulated, [1] in bursts, [2] at the start of bursts,
   * where the history is still that of the last one: not used */
  uint64_t simulated[3], bimodal_miss[3], gshare_miss[3], tage_miss[3];
  uint64_t indirect, indirect_btb_miss, indirect_history_miss;
  uint64_t returns, return_miss;
};

struct pq_tage_entry {
  uint16_t tag;
  uint8_t counter; /* 0..7, taken from 4 up */
  uint8_t useful;  /* 0..3 */
};

struct pq_target {
  uint64_t tag, target;
};

struct pq_predictors {
  uint64_t history, older_history; /* outcomes of conditional branches, newest in bit 0 */
  uint64_t path;                   /* of indirect targets */
  uint64_t left;                   /* conditional branches until simulation changes */
  uint64_t pause;                  /* between bursts, on average */
  bool simulating;
  uint8_t phase; /* which of the counts */
  uint32_t random;
  struct pq_branch_counts counts;
  uint8_t bimodal[PQ_BIMODAL], gshare[PQ_GSHARE];
  struct pq_tage_entry tage[PQ_TAGE_TABLES][PQ_TAGE_SIZE];
  struct pq_tage_entry nowhere; /* learns in place of a missing entry */
  uint64_t ras[PQ_RAS];
  unsigned ras_top, allocations;
  uint64_t btb[PQ_TARGETS];
  struct pq_target by_history[PQ_HISTORY_TARGETS];
};

void pq_predictors_init(struct pq_predictors* p);
/* Where the caller takes samples itself: from now on every branch, or again in bursts, a quarter of them. */
void pq_branch_simulate_all(struct pq_predictors* p, bool all);

void pq_branch_simulate(struct pq_predictors* p, uint64_t pc, bool taken);
void pq_branch_next_phase(struct pq_predictors* p);
void pq_branch_indirect(struct pq_predictors* p, uint64_t pc, uint64_t target);
void pq_branch_return(struct pq_predictors* p, uint64_t target);

static inline void pq_branch_conditional(struct pq_predictors* p, uint64_t pc, bool taken) {
  p->counts.taken += taken;
  if (__builtin_expect(p->left-- == 0, 0)) pq_branch_next_phase(p);
  if (p->simulating) pq_branch_simulate(p, pc, taken); /* a tail call */
}

static inline void pq_branch_call(struct pq_predictors* p, uint64_t return_address) {
  p->ras[++p->ras_top % PQ_RAS] = return_address;
}

#endif
