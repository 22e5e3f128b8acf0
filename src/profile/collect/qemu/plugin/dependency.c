/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Register dependencies inside a block: instruction-level parallelism, the
 * critical path in textbook latencies, and loads that wait for loads. Memory
 * dependencies are left out. */
#include "dependency.h"

#include <string.h>

enum { WINDOW = 8 }; /* an instruction is independent of those further back */

/* When a value is ready and what the time until then went into. */
struct path {
  uint32_t time;
  uint16_t by_kind[PQ_N_KINDS];
};

struct state {
  struct path ready[PQ_N_REGS];
  bool from_load[PQ_N_REGS];
  struct path longest;
  unsigned dependent_loads;
};

static void latest(struct path* p, const struct path* q) {
  if (q->time > p->time) *p = *q;
}

static void extend(struct path* p, unsigned latency, unsigned kind) {
  p->time += latency;
  p->by_kind[kind] = (uint16_t)(p->by_kind[kind] + latency);
}

static void step(struct state* s, const struct pq_insn* i) {
  struct path p = {0};
  bool tainted = false, address_tainted = false;
  for (unsigned k = 0; k < i->n_addr; k++) {
    latest(&p, &s->ready[i->addr[k]]);
    address_tainted |= s->from_load[i->addr[k]];
  }
  if (i->n_load) {
    extend(&p, PQ_LOAD_LATENCY, PQ_K_LOAD);
    tainted = true;
    if (address_tainted) s->dependent_loads++;
  }
  for (unsigned k = 0; k < i->n_src; k++) {
    latest(&p, &s->ready[i->src[k]]);
    tainted |= s->from_load[i->src[k]];
  }
  extend(&p, i->latency, i->kind);
  for (unsigned k = 0; k < i->n_dst; k++) {
    s->ready[i->dst[k]] = p;
    s->from_load[i->dst[k]] = tainted;
  }
  if (p.time > s->longest.time) s->longest = p;
}

static unsigned independent(const struct pq_insn* insns, size_t n) {
  size_t written[PQ_N_REGS] = {0}; /* index + 1 of the last writer */
  unsigned count = 0;
  for (size_t i = 0; i < n; i++) {
    bool waits = false;
    for (unsigned k = 0; k < insns[i].n_src; k++) {
      size_t w = written[insns[i].src[k]];
      waits |= w && i + 1 - w <= WINDOW;
    }
    for (unsigned k = 0; k < insns[i].n_addr; k++) {
      size_t w = written[insns[i].addr[k]];
      waits |= w && i + 1 - w <= WINDOW;
    }
    count += !waits;
    for (unsigned k = 0; k < insns[i].n_dst; k++) written[insns[i].dst[k]] = i + 1;
  }
  return count;
}

static uint16_t clamp(int64_t v) { return (uint16_t)(v < 0 ? 0 : v > UINT16_MAX ? UINT16_MAX : v); }

void pq_dependencies(const struct pq_insn* insns, size_t n, uint16_t stat[PQ_N_STATS], uint16_t self[PQ_N_SELF]) {
  static const uint8_t stat_of[PQ_N_KINDS] = {PQ_S_CRIT_INT, PQ_S_CRIT_MUL,  PQ_S_CRIT_DIV,
                                              PQ_S_CRIT_FP,  PQ_S_CRIT_LOAD, PQ_S_CRIT_OTHER};
  static const uint8_t self_of[PQ_N_KINDS] = {PQ_L_SELF_INT, PQ_L_SELF_MUL,  PQ_L_SELF_DIV,
                                              PQ_L_SELF_FP,  PQ_L_SELF_LOAD, PQ_L_SELF_OTHER};
  struct state s;
  memset(&s, 0, sizeof s);
  for (size_t i = 0; i < n; i++) step(&s, &insns[i]);
  struct path once = s.longest;
  unsigned dependent = s.dependent_loads;
  stat[PQ_S_INDEP] = clamp(independent(insns, n));
  stat[PQ_S_CRIT] = clamp(once.time);
  stat[PQ_S_DEP_LOADS] = clamp(dependent);
  for (unsigned k = 0; k < PQ_N_KINDS; k++) stat[stat_of[k]] = once.by_kind[k];

  /* The same block once more behind itself: what a loop of it adds per turn. */
  for (size_t i = 0; i < n; i++) step(&s, &insns[i]);
  int64_t increment = (int64_t)s.longest.time - once.time;
  stat[PQ_S_CRIT_LOOP] = clamp(increment);
  self[PQ_L_SELF_COUNT] = 1;
  self[PQ_L_SELF_INSNS] = clamp((int64_t)n);
  self[PQ_L_SELF_PATH] = clamp(once.time);
  self[PQ_L_SELF_INC] = clamp(increment);
  for (unsigned k = 0; k < PQ_N_KINDS; k++) self[self_of[k]] = clamp((int64_t)s.longest.by_kind[k] - once.by_kind[k]);
  self[PQ_L_SELF_DEP_LOADS] = clamp((int64_t)s.dependent_loads - 2 * (int64_t)dependent);
}
