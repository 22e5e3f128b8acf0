/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFCAST_QEMU_DECODE_A64_H
#define PERFCAST_QEMU_DECODE_A64_H

#include "insn.h"

void pq_a64_decode(uint32_t word, struct pq_insn* out);

#endif
