/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFCAST_QEMU_DECODE_A64_MEMORY_H
#define PERFCAST_QEMU_DECODE_A64_MEMORY_H

#include "insn.h"

/* Loads and stores: what the encoding's groups of that name hold. */
void pq_a64_load_store(uint32_t w, struct pq_insn* o);

#endif
