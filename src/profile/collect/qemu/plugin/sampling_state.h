/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where sampling.h is: what the series of phases and the traces go by. */
#ifndef PERFCAST_QEMU_SAMPLING_STATE_H
#define PERFCAST_QEMU_SAMPLING_STATE_H

#include <stdbool.h>
#include <stdint.h>

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

/* Does code that is translated now call the simulation? */
static inline bool pq_simulates(void) { return pq_sampling.phase != PQ_PLAIN; }

static inline uint64_t pq_random(uint64_t* state) { /* splitmix64 */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

#endif
