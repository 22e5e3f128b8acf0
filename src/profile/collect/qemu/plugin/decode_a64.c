/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A64 instructions by their encoding groups (Arm ARM, C4.1): integer, branch
 * and system instructions and dispatch. Loads and stores are in
 * decode_a64_memory.c, floating point and SIMD in decode_a64_simd.c. SVE is
 * only counted. */
#include "decode_a64.h"

#include <string.h>

#include "a64_fields.h"
#include "decode_a64_memory.h"
#include "decode_a64_simd.h"
#include "latency.h"

static void data_immediate(uint32_t w, struct pq_insn* o) {
  unsigned group = pq_bits(w, 23, 3), opc = pq_bits(w, 29, 2);
  unsigned rd = pq_bits(w, 0, 5), rn = pq_bits(w, 5, 5);
  bool sets_flags = false;
  switch (group) {
    case 0:
    case 1: /* adr, adrp */
      o->op = PQ_OP_LEA;
      pq_dst_x(o, rd);
      return;
    case 2:
    case 3: /* add, sub; tagged ones too */
      o->op = PQ_OP_INT_ALU;
      sets_flags = opc & 1;
      pq_add_src(o, rn); /* 31 is sp here */
      if (group == 2 && opc == 0 && pq_bits(w, 10, 12) == 0 && (rd == 31 || rn == 31))
        o->op = PQ_OP_MOV; /* mov to or from sp */
      break;
    case 4: /* and, orr, eor, ands with a bit mask */
      o->op = opc == 1 && rn == 31 ? PQ_OP_MOV : PQ_OP_LOGIC;
      sets_flags = opc == 3;
      pq_src_x(o, rn);
      break;
    case 5: /* movn, movz, movk */
      o->op = PQ_OP_MOV;
      if (opc == 3) pq_add_src(o, rd);
      break;
    case 6: { /* sbfm, bfm, ubfm */
      unsigned immr = pq_bits(w, 16, 6), imms = pq_bits(w, 10, 6);
      bool extend = immr == 0 && (imms == 7 || imms == 15 || (imms == 31 && opc == 0));
      o->op = extend && opc != 1 ? PQ_OP_MOV : PQ_OP_SHIFT;
      pq_src_x(o, rn);
      if (opc == 1) pq_src_x(o, rd);
      break;
    }
    default: /* extr */
      o->op = PQ_OP_SHIFT;
      pq_src_x(o, rn);
      pq_src_x(o, pq_bits(w, 16, 5));
      break;
  }
  bool sp_destination = (group == 2 || group == 3 || group == 4) && !sets_flags;
  if (sp_destination)
    pq_add_dst(o, rd);
  else
    pq_dst_x(o, rd);
  if (sets_flags) pq_add_dst(o, PQ_REG_FLAGS);
}

static void system_instruction(uint32_t w, struct pq_insn* o) {
  unsigned rt = pq_bits(w, 0, 5);
  if ((w & 0xfffff01f) == 0xd503201f) { /* hints */
    o->op = pq_bits(w, 5, 7) == 1 ? PQ_OP_PAUSE : PQ_OP_NOP;
  } else if ((w & 0xfffff000) == 0xd5033000) { /* clrex and barriers */
    o->op = PQ_OP_FENCE;
  } else if ((w & 0xfff00000) == 0xd5300000) { /* mrs */
    uint32_t reg = w & 0xffffffe0;
    bool counter = reg == 0xd53be040 || reg == 0xd53be020 || reg == 0xd53be0c0 || reg == 0xd53be0a0;
    bool random = reg == 0xd53b2400 || reg == 0xd53b2420;
    bool thread_pointer = reg == 0xd53bd040;
    o->op = counter ? PQ_OP_RDTSC_LIKE : random ? PQ_OP_RNG : thread_pointer ? PQ_OP_MOV : PQ_OP_OTHER;
    pq_dst_x(o, rt);
  } else if ((w & 0xfff80000) == 0xd5080000) { /* sys: dc, ic */
    o->op = PQ_OP_CACHE_CONTROL;
    pq_src_x(o, rt);
    if ((w & 0xffffffe0) == 0xd50b7420) pq_store(o, 64, 1); /* dc zva, blocks of 64 bytes */
  } else {
    o->op = PQ_OP_OTHER;
  }
}

static void branch_or_system(uint32_t w, struct pq_insn* o) {
  enum { LR = 30 };
  unsigned rt = pq_bits(w, 0, 5);
  if ((w & 0x7c000000) == 0x14000000) { /* b, bl */
    bool link = w >> 31;
    o->op = link ? PQ_OP_CALL : PQ_OP_JUMP;
    o->branch = link ? PQ_BR_CALL : PQ_BR_JUMP;
    if (link) pq_add_dst(o, LR);
  } else if ((w & 0x7e000000) == 0x34000000 || (w & 0x7e000000) == 0x36000000) { /* cbz, tbz */
    o->op = PQ_OP_COND_BRANCH;
    o->branch = PQ_BR_COND;
    pq_src_x(o, rt);
  } else if ((w & 0xfe000000) == 0x54000000) { /* b.cond */
    o->op = PQ_OP_COND_BRANCH;
    o->branch = PQ_BR_COND;
    if ((w & 0xf) < 0xe) pq_add_src(o, PQ_REG_FLAGS);
  } else if ((w & 0xfe000000) == 0xd6000000) { /* br, blr, ret, and authenticated forms */
    unsigned opc = pq_bits(w, 21, 3);
    o->op = opc == 1 ? PQ_OP_IND_CALL : opc == 0 ? PQ_OP_IND_BRANCH : PQ_OP_RET;
    o->branch = opc == 1 ? PQ_BR_IND_CALL : opc == 0 ? PQ_BR_IND : PQ_BR_RET;
    pq_src_x(o, pq_bits(w, 5, 5));
    if (opc == 1) pq_add_dst(o, LR);
  } else if ((w & 0xff000000) == 0xd4000000) {
    o->op = (w & 0x1f) == 1 ? PQ_OP_SYSCALL : PQ_OP_OTHER;
  } else if ((w & 0xff000000) == 0xd5000000) {
    system_instruction(w, o);
  } else {
    o->op = PQ_OP_OTHER;
    o->undecoded = true;
  }
}

static void two_sources(uint32_t w, struct pq_insn* o) {
  unsigned opcode = pq_bits(w, 10, 6);
  if (opcode == 2 || opcode == 3) {
    o->op = PQ_OP_INT_DIV;
    o->div_size = w >> 31 ? 8 : 4;
  } else if (opcode >= 8 && opcode <= 11) {
    o->op = PQ_OP_SHIFT;
  } else if (opcode >= 16 && opcode <= 23) {
    o->op = PQ_OP_CRYPTO; /* crc32 */
  } else {
    o->op = PQ_OP_INT_ALU; /* subp, irg, gmi, pacga */
  }
  pq_src_x(o, pq_bits(w, 5, 5));
  pq_src_x(o, pq_bits(w, 16, 5));
  pq_dst_x(o, pq_bits(w, 0, 5));
}

static void data_register(uint32_t w, struct pq_insn* o) {
  unsigned rd = pq_bits(w, 0, 5), rn = pq_bits(w, 5, 5), rm = pq_bits(w, 16, 5);
  unsigned opc = pq_bits(w, 29, 2);
  if (pq_bits(w, 24, 5) == 0x0a) { /* logical, shifted register */
    bool plain = pq_bits(w, 10, 6) == 0 && !pq_bit(w, 21);
    o->op = opc == 1 && rn == 31 && plain ? PQ_OP_MOV : PQ_OP_LOGIC;
    pq_src_x(o, rn);
    pq_src_x(o, rm);
    pq_dst_x(o, rd);
    if (opc == 2 && rn == rm && plain) o->zero_idiom = true; /* eor r,r */
    if (opc == 3) pq_add_dst(o, PQ_REG_FLAGS);
  } else if (pq_bits(w, 24, 5) == 0x0b) { /* add, sub: shifted or extended register */
    bool extended = pq_bit(w, 21);
    o->op = PQ_OP_INT_ALU;
    if (extended)
      pq_add_src(o, rn);
    else
      pq_src_x(o, rn);
    pq_src_x(o, rm);
    if (extended && !(opc & 1))
      pq_add_dst(o, rd);
    else
      pq_dst_x(o, rd);
    if (opc & 1) pq_add_dst(o, PQ_REG_FLAGS);
  } else if (pq_bits(w, 24, 5) == 0x1b) { /* three sources */
    o->op = PQ_OP_INT_MUL;
    unsigned op31 = pq_bits(w, 21, 3);
    o->mul_wide = op31 == 2 || op31 == 6; /* smulh, umulh */
    pq_src_x(o, rn);
    pq_src_x(o, rm);
    pq_src_x(o, pq_bits(w, 10, 5));
    pq_dst_x(o, rd);
  } else if (pq_bits(w, 21, 8) == 0xd6) {
    if (pq_bit(w, 30)) { /* one source: rbit, rev, clz, cls; pointer authentication */
      o->op = PQ_OP_LOGIC;
      pq_src_x(o, rn);
      pq_dst_x(o, rd);
    } else {
      two_sources(w, o);
    }
  } else if (pq_bits(w, 21, 8) == 0xd4) { /* csel and its like */
    o->op = PQ_OP_SELECT;
    pq_src_x(o, rn);
    pq_src_x(o, rm);
    pq_add_src(o, PQ_REG_FLAGS);
    pq_dst_x(o, rd);
  } else if (pq_bits(w, 21, 8) == 0xd2) { /* ccmp, ccmn */
    o->op = PQ_OP_INT_ALU;
    pq_src_x(o, rn);
    if (!pq_bit(w, 11)) pq_src_x(o, rm);
    pq_add_src(o, PQ_REG_FLAGS);
    pq_add_dst(o, PQ_REG_FLAGS);
  } else if (pq_bits(w, 21, 8) == 0xd0) { /* adc, sbc, rmif, setf */
    o->op = PQ_OP_INT_ALU;
    pq_src_x(o, rn);
    pq_src_x(o, rm);
    pq_add_src(o, PQ_REG_FLAGS);
    pq_dst_x(o, rd);
    if (opc & 1) pq_add_dst(o, PQ_REG_FLAGS);
  } else {
    o->op = PQ_OP_OTHER;
    o->undecoded = true;
  }
}

void pq_a64_decode(uint32_t w, struct pq_insn* o) {
  memset(o, 0, sizeof *o);
  unsigned group = pq_bits(w, 25, 4);
  if ((group & 0xe) == 8) {
    data_immediate(w, o);
  } else if ((group & 0xe) == 0xa) {
    branch_or_system(w, o);
  } else if ((group & 5) == 4) {
    pq_a64_load_store(w, o);
  } else if ((group & 7) == 5) {
    data_register(w, o);
  } else if ((group & 7) == 7) {
    pq_a64_simd(w, o);
  } else {
    o->op = PQ_OP_OTHER;
    o->mem_unknown = true;
    if (group == 2)
      o->sve = true;
    else
      o->undecoded = true;
  }
  pq_set_latency(o);
  if (o->zero_idiom) {
    o->n_src = 0;
    o->latency = 0;
  }
}
