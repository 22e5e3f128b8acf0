/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugin wants to know about one guest instruction. */
#ifndef PERFCAST_QEMU_INSN_H
#define PERFCAST_QEMU_INSN_H

#include <stdbool.h>
#include <stdint.h>

#include "keys.h"

enum pq_arch { PQ_X86_64, PQ_AARCH64 };

/* How a block ends. */
enum pq_branch { PQ_BR_NONE, PQ_BR_COND, PQ_BR_JUMP, PQ_BR_IND, PQ_BR_CALL, PQ_BR_IND_CALL, PQ_BR_RET };

/* Who produced a piece of the critical path. */
enum pq_kind { PQ_K_INT, PQ_K_MUL, PQ_K_DIV, PQ_K_FP, PQ_K_LOAD, PQ_K_OTHER, PQ_N_KINDS };

/* One number space for dependency tracking: general registers 0..31, vector
 * registers 32..63, flags, the x87 stack as one resource, mask registers. */
enum { PQ_REG_VEC = 32, PQ_REG_FLAGS = 64, PQ_REG_X87 = 65, PQ_REG_MASK = 66, PQ_N_REGS = 74 };

enum { PQ_MAX_SRC = 14, PQ_MAX_ADDR = 6, PQ_MAX_DST = 20, PQ_LOAD_LATENCY = 5 };

struct pq_insn {
  uint8_t op;        /* PQ_OP_*: the class */
  uint8_t branch;    /* enum pq_branch */
  uint8_t latency;   /* of the operation, without a load in front of it */
  uint8_t kind;      /* enum pq_kind */
  uint8_t vec_words; /* width / 64 of a vector instruction, 0 for others */
  bool vec_fp;
  bool undecoded, zero_idiom, sve, mul_wide;
  bool is_string, is_rep;
  uint8_t div_size;               /* bytes, integer division only */
  uint8_t fp_size;                /* 4 or 8, floating-point arithmetic only */
  uint8_t flops;                  /* operations of all lanes */
  uint8_t n_load, n_store;        /* memory accesses made ... */
  uint16_t load_size, store_size; /* ... and the bytes of each */
  bool mem_unknown;               /* memory may be touched in ways not decoded */
  uint8_t n_src, n_addr, n_dst;
  uint8_t src[PQ_MAX_SRC];   /* data sources */
  uint8_t addr[PQ_MAX_ADDR]; /* address sources of memory operands */
  uint8_t dst[PQ_MAX_DST];
};

static inline void pq_add_src(struct pq_insn* i, unsigned reg) {
  if (i->n_src < PQ_MAX_SRC) i->src[i->n_src++] = (uint8_t)reg;
}
static inline void pq_add_addr(struct pq_insn* i, unsigned reg) {
  if (i->n_addr < PQ_MAX_ADDR) i->addr[i->n_addr++] = (uint8_t)reg;
}
static inline void pq_add_dst(struct pq_insn* i, unsigned reg) {
  if (i->n_dst < PQ_MAX_DST) i->dst[i->n_dst++] = (uint8_t)reg;
}

#endif
