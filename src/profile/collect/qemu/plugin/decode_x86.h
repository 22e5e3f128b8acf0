/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFCAST_QEMU_DECODE_X86_H
#define PERFCAST_QEMU_DECODE_X86_H

#include <stddef.h>

#include "insn.h"

/* False: the disassembler does not start. */
bool pq_x86_open(void);
void pq_x86_decode(const uint8_t* bytes, size_t size, uint64_t pc, struct pq_insn* out);

#endif
