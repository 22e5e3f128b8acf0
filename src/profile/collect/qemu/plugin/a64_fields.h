/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of an AArch64 instruction, and its registers as dependencies. */
#ifndef PERFCAST_QEMU_A64_FIELDS_H
#define PERFCAST_QEMU_A64_FIELDS_H

#include "insn.h"

static inline uint32_t pq_bits(uint32_t w, unsigned low, unsigned n) { return (w >> low) & ((1u << n) - 1); }
static inline bool pq_bit(uint32_t w, unsigned at) { return (w >> at) & 1; }

/* Register 31 is the zero register in these, hence no dependency. */
static inline void pq_src_x(struct pq_insn* o, unsigned r) {
  if (r != 31) pq_add_src(o, r);
}
static inline void pq_dst_x(struct pq_insn* o, unsigned r) {
  if (r != 31) pq_add_dst(o, r);
}
static inline void pq_src_v(struct pq_insn* o, unsigned r) { pq_add_src(o, PQ_REG_VEC + r); }
static inline void pq_dst_v(struct pq_insn* o, unsigned r) { pq_add_dst(o, PQ_REG_VEC + r); }

static inline void pq_load(struct pq_insn* o, unsigned size, unsigned n) {
  o->n_load = (uint8_t)n;
  o->load_size = (uint16_t)size;
}
static inline void pq_store(struct pq_insn* o, unsigned size, unsigned n) {
  o->n_store = (uint8_t)n;
  o->store_size = (uint16_t)size;
}

#endif
