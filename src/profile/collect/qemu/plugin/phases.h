/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters as a series: what was counted between one look and the next goes to an interval, which ends once it has
 * enough instructions. Where there are too many intervals, each two that follow one another become one, and all later
 * ones are twice as long: memory is bounded, whatever the program does. All threads of a process go to one series.
 *
 * Nobody counts instructions as they run. A look adds up all blocks, from a timer's signal, a system call, or where
 * threads look anyway; looks take a fiftieth of the time at the most. README.md has the format. */
#ifndef PERFCAST_QEMU_PHASES_H
#define PERFCAST_QEMU_PHASES_H

#include <stdbool.h>

#include "run.h"

enum { PQ_PHASES_LEAST = 16, PQ_PHASES_MOST = 4096, PQ_CODE_PLACES = 512 };

struct pq_phases {
  bool on;
  unsigned most; /* intervals */
};
extern struct pq_phases pq_phases;

/* False: no memory. */
bool pq_phases_open(const struct pq_run* run, unsigned most);
/* A block was translated: where its code lies is known by now. */
void pq_phases_translated(struct pq_block* b);
/* From a signal too. */
void pq_phases_look(void);
/* The simulation is about to change between counting and not counting: what it counted so far is of the present
 * interval. Its counts are taken where they count (a first phase, a window). */
void pq_phases_simulated(void);
/* In the child all counts are zero. */
void pq_phases_forked(void);
/* False: not written. */
bool pq_phases_write(const char* path);

#endif
