/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caches and branch predictors are simulated in windows; instructions are always
 * counted. A process starts with a phase in which all is simulated. Then plain
 * phases, where code only counts how often it runs, take turns with windows:
 * first a warm-up that is not counted, then the window itself. The simulated
 * state is kept over plain phases. Windows start at random times, as often as the
 * time they cost stays a given share of the time of the plain phases.
 *
 * From a phase without to one with simulation, or back, all code is translated
 * again: QEMU has no other way to change what it calls. */
#ifndef PERFCAST_QEMU_SAMPLING_H
#define PERFCAST_QEMU_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "vcpu.h"

enum pq_phase { PQ_FIRST, PQ_PLAIN, PQ_WARM_UP, PQ_WINDOW };

struct pq_sampling {
  bool on;
  enum pq_phase phase;
  uint64_t first, window; /* instructions of a vCPU; windows at least this long */
  double share;           /* time of windows by time of plain phases */
  uint64_t at_first_ms;   /* windows come more often until they took this */
  uint64_t seed;
  uint64_t windows;        /* that were begun */
  uint64_t resident_bytes; /* most memory of the guest seen when a window began */
  double resident_share;   /* of the memory that it had mapped, at the last of them */
  uint64_t seen;           /* instructions of the first phase and of windows */
  /* internal */
  uint64_t entered_ns, look_ns;   /* the present phase; when to add up instructions again */
  double due_instructions;        /* of plain phases, when the next window begins */
  uint64_t cost_ns, last_cost_ns; /* of the first phase and windows so far; of the last */
  uint64_t plain_ns;              /* in plain phases so far */
  uint64_t translated_again;      /* instructions, since the last window */
  uint64_t retranslation_ns;
  uint64_t random;
  bool stays;                     /* there are several threads and no phase may change */
  double plain_before, plain_now; /* instructions of plain phases, up to the last windows */
};

extern struct pq_sampling pq_sampling;

static inline uint64_t pq_random(uint64_t* state) { /* splitmix64 */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* `change`: has everything translated again, false if it can't now; called on a vCPU's thread. */
void pq_sampling_open(bool (*change)(void));
/* Does code that is translated now call the simulation? */
static inline bool pq_simulates(void) { return pq_sampling.phase != PQ_PLAIN; }
/* A vCPU has simulated `due` instructions. */
void pq_phase_is_over(struct pq_vcpu* v);
/* All vCPUs stand still, all translated code is about to go. */
void pq_phase_change(void);
/* A vCPU begins; or all of it begins anew in a forked child. */
void pq_sampling_start(struct pq_vcpu* v);
void pq_sampling_forked(void);
/* From now on this thread, the first, looks at its phases by a timer; further calls do nothing. */
void pq_sampling_tick(void);
/* A second thread begins. */
void pq_sampling_threads(void);
/* In a plain phase, of a program with several threads: this one executed another LOOK_EVERY instructions. */
void pq_sampling_look(struct pq_vcpu* v);

/* With what was counted since the last phase. For reading when the process ends. Windows are weighted: divide by a
 * count of the same. */
void pq_tallies(const struct pq_vcpu* v, struct pq_tally* first, double windows[PQ_REPLICATES][PQ_TALLY_FIELDS]);

#endif
