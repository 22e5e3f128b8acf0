/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The class of an x86-64 instruction from its mnemonic alone. */
#ifndef PERFCAST_QEMU_X86_CLASS_H
#define PERFCAST_QEMU_X86_CLASS_H

#include <stdbool.h>
#include <stdint.h>

struct pq_x86_class {
  uint8_t op;      /* PQ_OP_*; packed forms for SIMD, refined by operands later */
  bool simd;       /* works on mm, xmm, ymm or zmm registers */
  bool packed;     /* a vector instruction (not scalar floating point) */
  bool fp;         /* a packed instruction on floating-point data */
  uint8_t fp_size; /* 4 or 8 where floating-point arithmetic */
  uint8_t slow;    /* latency override, 0 for the class's own */
};

struct pq_x86_class pq_x86_classify(const char* mnemonic);

#endif
