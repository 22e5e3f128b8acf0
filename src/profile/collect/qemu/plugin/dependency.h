/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFCAST_QEMU_DEPENDENCY_H
#define PERFCAST_QEMU_DEPENDENCY_H

#include <stddef.h>

#include "insn.h"

/* Of a block's instructions: the sums that are named after dependencies and critical paths, once through and in a loop
 * of the block alone. */
void pq_dependencies(const struct pq_insn* insns, size_t n, uint16_t stat[PQ_N_STATS], uint16_t self[PQ_N_SELF]);

#endif
