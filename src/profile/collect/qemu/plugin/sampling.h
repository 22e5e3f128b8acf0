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

#include "sampling_state.h"
#include "vcpu.h"

/* `change`: has everything translated again, false if it can't now; called on a vCPU's thread. */
void pq_sampling_open(bool (*change)(void));
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
