/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFCAST_QEMU_LATENCY_H
#define PERFCAST_QEMU_LATENCY_H

#include "insn.h"

/* Fills latency and kind from the class (and flags already set in insn). */
void pq_set_latency(struct pq_insn* insn);

#endif
