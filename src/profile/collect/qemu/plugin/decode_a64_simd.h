/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFCAST_QEMU_DECODE_A64_SIMD_H
#define PERFCAST_QEMU_DECODE_A64_SIMD_H

#include "insn.h"

/* Floating point and vectors, SVE as a whole. */
void pq_a64_simd(uint32_t w, struct pq_insn* o);

#endif
