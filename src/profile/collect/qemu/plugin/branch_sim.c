/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "branch_sim.h"

#include <string.h>

enum {
  EXACT = 1 << 22,
  WARM_UP = 1 << 9,
  BURST = 1 << 14,
  PAUSE = 15 * BURST /* on average */,
  SHORT_PAUSE = 3 * BURST
};

void pq_predictors_init(struct pq_predictors* p) {
  memset(p, 0, sizeof *p);
  memset(p->bimodal, 1, sizeof p->bimodal);
  memset(p->gshare, 1, sizeof p->gshare);
  p->simulating = true;
  p->left = EXACT;
  p->pause = PAUSE;
  p->random = 1;
}

/* The pauses are of random length so that they keep no step with the program. */
void pq_branch_next_phase(struct pq_predictors* p) {
  if (!p->simulating) {
    p->simulating = true;
    p->phase = 2;
    p->left = WARM_UP - 1;
  } else if (p->phase == 2) {
    p->phase = 1;
    p->left = BURST - 1;
  } else {
    p->simulating = false;
    p->random = p->random * 1664525u + 1013904223u;
    p->left = p->pause / 2 + (p->random >> 8) % p->pause;
  }
}

void pq_branch_simulate_all(struct pq_predictors* p, bool all) {
  p->simulating = true;
  p->phase = all ? 0 : 1;
  p->left = all ? UINT64_MAX : BURST;
  p->pause = SHORT_PAUSE;
}

/* Saturating counters as tables: a mispredicted guest branch must not become
 * mispredicted host branches here. [taken][state] */
static const uint8_t two_bits[2][4] = {{0, 0, 1, 2}, {1, 2, 3, 3}};
static const uint8_t three_bits[2][8] = {{0, 0, 1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6, 7, 7}};

struct lookup {
  struct pq_tage_entry* entry;
  uint16_t tag;
};

/* Histories of 5, 15, 44 and 128 branches. Returns a bit per table that knows
 * this branch with this history. */
static inline unsigned look_up(struct pq_predictors* p, uint64_t pc, struct lookup found[]) {
  const uint64_t k = 0x9e3779b97f4a7c15u, h = p->history;
  uint64_t site = pc * 0xd6e8feb86659fd93u;
  uint64_t mixed[PQ_TAGE_TABLES] = {(site ^ (h & 0x1f)) * k, (site ^ ((h & 0x7fff) << 7)) * (k + 2),
                                    (site ^ (h & 0xfffffffffffu)) * (k + 4),
                                    (site ^ (h * (k + 8)) ^ (p->older_history * (k + 16))) * (k + 6)};
  unsigned known = 0;
  for (unsigned i = 0; i < PQ_TAGE_TABLES; i++) {
    found[i].entry = &p->tage[i][mixed[i] >> 54];
    found[i].tag = (uint16_t)((mixed[i] >> 42 & 0xfff) | 0x1000); /* never an empty entry's */
    known |= (unsigned)(found[i].entry->tag == found[i].tag) << i;
  }
  return known;
}

static void allocate(struct pq_predictors* p, struct lookup found[], unsigned from, bool taken) {
  /* now and then one table further up */
  if (from + 1 < PQ_TAGE_TABLES && (++p->allocations & 3) == 0) from++;
  for (unsigned i = from; i < PQ_TAGE_TABLES; i++) {
    if (found[i].entry->useful) continue;
    *found[i].entry = (struct pq_tage_entry){found[i].tag, taken ? 4 : 3, 0};
    return;
  }
  for (unsigned i = from; i < PQ_TAGE_TABLES; i++) found[i].entry->useful--;
}

/* The bimodal table, as it was before this branch, is TAGE's base. */
static inline bool tage_wrong(struct pq_predictors* p, uint64_t pc, bool base, bool taken) {
  struct lookup found[PQ_TAGE_TABLES + 1];
  unsigned known = look_up(p, pc, found);
  /* tables are numbered from 1 here, 0 is the base */
  unsigned provider = 31u - (unsigned)__builtin_clz(known << 1 | 1);
  unsigned second = 31u - (unsigned)__builtin_clz(((known << 1 | 1) & ~(1u << provider)) | !provider);
  struct pq_tage_entry* none = &p->nowhere;
  none->counter = base ? 7 : 0;
  none->useful = 3;
  struct pq_tage_entry* e = provider ? found[provider - 1].entry : none;
  struct pq_tage_entry* alternative = second ? found[second - 1].entry : none;
  bool own = e->counter >= 4, other = alternative->counter >= 4;
  bool fresh = (e->useful == 0) & ((e->counter == 3) | (e->counter == 4));
  bool guess = fresh ? other : own;
  uint8_t useful = two_bits[own == taken][e->useful];
  e->useful = own != other ? useful : e->useful;
  e->counter = three_bits[taken][e->counter];
  /* no new entry where the newest one was right, but not yet trusted */
  if (guess != taken && own != taken && provider < PQ_TAGE_TABLES) allocate(p, found, provider, taken);
  return guess != taken;
}

void pq_branch_simulate(struct pq_predictors* p, uint64_t pc, bool taken) {
  struct pq_branch_counts* c = &p->counts;
  uint64_t site = pc ^ (pc >> 12);
  unsigned phase = p->phase;
  c->simulated[phase]++;
  uint8_t *bimodal = &p->bimodal[site % PQ_BIMODAL], *gshare;
  gshare = &p->gshare[(site ^ p->history) % PQ_GSHARE];
  bool base = *bimodal >= 2, shared = *gshare >= 2;
  *bimodal = two_bits[taken][*bimodal];
  *gshare = two_bits[taken][*gshare];
  c->bimodal_miss[phase] += base != taken;
  c->gshare_miss[phase] += shared != taken;
  c->tage_miss[phase] += tage_wrong(p, pc, base, taken);
  p->older_history = p->older_history << 1 | p->history >> 63;
  p->history = p->history << 1 | taken;
}

void pq_branch_indirect(struct pq_predictors* p, uint64_t pc, uint64_t target) {
  struct pq_branch_counts* c = &p->counts;
  c->indirect++;
  uint64_t* last = &p->btb[(pc ^ (pc >> 10)) % PQ_TARGETS];
  uint64_t mixed = (pc ^ (p->path << 20)) * 0x9e3779b97f4a7c15u;
  struct pq_target* t = &p->by_history[mixed >> 52];
  uint64_t guess = t->tag == mixed ? t->target : *last;
  c->indirect_btb_miss += *last != target;
  c->indirect_history_miss += guess != target;
  *last = target;
  t->tag = mixed;
  t->target = target;
  p->path = (p->path << 5 ^ target >> 2) & 0xffffffffffu;
}

void pq_branch_return(struct pq_predictors* p, uint64_t target) {
  p->counts.returns++;
  p->counts.return_miss += p->ras[p->ras_top-- % PQ_RAS] != target;
}
