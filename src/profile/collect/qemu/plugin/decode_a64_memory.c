/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A64 loads and stores. A pair counts as one access of twice the size. */
#include "decode_a64_memory.h"

#include "a64_fields.h"

static void transfer_reg(struct pq_insn* o, unsigned rt, bool vector, bool load) {
  if (vector)
    load ? pq_dst_v(o, rt) : pq_src_v(o, rt);
  else
    load ? pq_dst_x(o, rt) : pq_src_x(o, rt);
}

static void set_mov(struct pq_insn* o, bool vector, unsigned size) {
  if (!vector) {
    o->op = PQ_OP_MOV;
  } else if (size >= 16) {
    o->op = PQ_OP_VEC_MOV;
    o->vec_words = 2;
  } else {
    o->op = PQ_OP_FP_MOV_SCALAR; /* s and d registers; h and b with them */
  }
}

static void exclusive(uint32_t w, struct pq_insn* o) {
  unsigned size = 1u << pq_bits(w, 30, 2), rt = pq_bits(w, 0, 5), rn = pq_bits(w, 5, 5);
  unsigned rs = pq_bits(w, 16, 5), rt2 = pq_bits(w, 10, 5);
  bool o2 = pq_bit(w, 23), load = pq_bit(w, 22), o1 = pq_bit(w, 21);
  pq_add_addr(o, rn);
  o->op = PQ_OP_ATOMIC;
  if (o2 && !o1) { /* ldar, stlr */
    o->op = PQ_OP_MOV;
    transfer_reg(o, rt, false, load);
    load ? pq_load(o, size, 1) : pq_store(o, size, 1);
  } else if (o1 && (o2 || !pq_bit(w, 31))) { /* cas, casp */
    if (!o2) size = pq_bit(w, 30) ? 16 : 8;
    pq_src_x(o, rs);
    pq_src_x(o, rt);
    pq_dst_x(o, rs);
    pq_load(o, size, 1);
    pq_store(o, size, 1);
  } else { /* ldxr, stxr, and pairs */
    if (o1) size *= 2;
    transfer_reg(o, rt, false, load);
    if (o1) transfer_reg(o, rt2, false, load);
    if (!load) pq_dst_x(o, rs);
    load ? pq_load(o, size, 1) : pq_store(o, size, 1);
  }
}

static void pair(uint32_t w, struct pq_insn* o) {
  bool vector = pq_bit(w, 26), load = pq_bit(w, 22);
  unsigned opc = pq_bits(w, 30, 2), mode = pq_bits(w, 23, 2), rn = pq_bits(w, 5, 5);
  unsigned size = vector ? 4u << opc : opc == 2 ? 8 : 4;
  set_mov(o, vector, size);
  pq_add_addr(o, rn);
  transfer_reg(o, pq_bits(w, 0, 5), vector, load);
  transfer_reg(o, pq_bits(w, 10, 5), vector, load);
  if (mode & 1) pq_add_dst(o, rn); /* pre- or post-indexed */
  load ? pq_load(o, 2 * size, 1) : pq_store(o, 2 * size, 1);
}

static void lse_atomic(uint32_t w, struct pq_insn* o) {
  unsigned size = 1u << pq_bits(w, 30, 2), rt = pq_bits(w, 0, 5);
  pq_add_addr(o, pq_bits(w, 5, 5));
  pq_load(o, size, 1);
  if (pq_bit(w, 15) && pq_bits(w, 12, 3) == 4) { /* ldapr */
    o->op = PQ_OP_MOV;
  } else {
    o->op = PQ_OP_ATOMIC;
    pq_src_x(o, pq_bits(w, 16, 5));
    pq_store(o, size, 1);
  }
  pq_dst_x(o, rt);
}

static void single(uint32_t w, struct pq_insn* o) {
  bool vector = pq_bit(w, 26), unsigned_offset = pq_bit(w, 24);
  unsigned scale = pq_bits(w, 30, 2), opc = pq_bits(w, 22, 2);
  unsigned rt = pq_bits(w, 0, 5), rn = pq_bits(w, 5, 5), mode = pq_bits(w, 10, 2);
  if (!unsigned_offset && pq_bit(w, 21) && mode == 0 && !vector) {
    lse_atomic(w, o);
    return;
  }
  if (!vector && scale == 3 && opc == 2 && !(!unsigned_offset && pq_bit(w, 21) && mode != 2)) {
    o->op = PQ_OP_PREFETCH;
    return;
  }
  bool load = vector ? opc & 1 : opc != 0;
  unsigned size = vector && (opc & 2) ? 16 : 1u << scale;
  pq_add_addr(o, rn);
  if (!unsigned_offset && pq_bit(w, 21)) {
    if (mode == 2) {
      if (pq_bits(w, 16, 5) != 31) pq_add_addr(o, pq_bits(w, 16, 5));
    } else { /* ldraa */
      size = 8;
      load = true;
    }
  } else if (!unsigned_offset && (mode & 1)) {
    pq_add_dst(o, rn); /* pre- or post-indexed */
  }
  set_mov(o, vector, size);
  transfer_reg(o, rt, vector, load);
  load ? pq_load(o, size, 1) : pq_store(o, size, 1);
}

/* ld1..ld4, st1..st4 */
static void structures(uint32_t w, struct pq_insn* o) {
  bool one_lane = pq_bit(w, 24), load = pq_bit(w, 22), q = pq_bit(w, 30);
  unsigned rt = pq_bits(w, 0, 5), rn = pq_bits(w, 5, 5), n = 1, size;
  bool interleaved = false;
  if (one_lane) {
    unsigned opcode = pq_bits(w, 13, 3), scale = opcode >> 1;
    n = 1 + (opcode & 1) * 2 + pq_bit(w, 21);
    if (scale == 2 && pq_bit(w, 10)) scale = 3;
    if (scale == 3 && opcode >= 6) scale = pq_bits(w, 10, 2); /* ld1r */
    size = n << scale;
  } else {
    static const uint8_t registers[16] = {4, 0, 4, 0, 3, 0, 3, 1, 2, 0, 2};
    unsigned opcode = pq_bits(w, 12, 4);
    n = registers[opcode] ? registers[opcode] : 1;
    interleaved = opcode == 0 || opcode == 4 || opcode == 8;
    size = n * (q ? 16 : 8);
  }
  o->op = interleaved ? PQ_OP_VEC_SHUFFLE : PQ_OP_VEC_MOV;
  o->vec_words = q ? 2 : 1;
  pq_add_addr(o, rn);
  for (unsigned i = 0; i < n; i++) transfer_reg(o, (rt + i) & 31, true, load);
  if (pq_bit(w, 23)) pq_add_dst(o, rn);
  load ? pq_load(o, size, 1) : pq_store(o, size, 1);
}

void pq_a64_load_store(uint32_t w, struct pq_insn* o) {
  unsigned high = pq_bits(w, 24, 6);
  bool vector = pq_bit(w, 26);
  if (high == 0x08) {
    exclusive(w, o);
  } else if ((w & 0xbe000000) == 0x0c000000) {
    structures(w, o);
  } else if ((high & 0x3b) == 0x18) { /* literal */
    unsigned opc = pq_bits(w, 30, 2);
    if (!vector && opc == 3) {
      o->op = PQ_OP_PREFETCH;
      return;
    }
    unsigned size = vector ? 4u << opc : opc == 1 ? 8 : 4;
    set_mov(o, vector, size);
    transfer_reg(o, pq_bits(w, 0, 5), vector, true);
    pq_load(o, size, 1);
  } else if ((high & 0x3a) == 0x28) {
    pair(w, o);
  } else if ((high & 0x3a) == 0x38) {
    single(w, o);
  } else if (high == 0x19 && !pq_bit(w, 21)) { /* ldapur, stlur; tags are left out */
    unsigned size = 1u << pq_bits(w, 30, 2);
    bool load = pq_bits(w, 22, 2) != 0;
    o->op = PQ_OP_MOV;
    pq_add_addr(o, pq_bits(w, 5, 5));
    transfer_reg(o, pq_bits(w, 0, 5), false, load);
    load ? pq_load(o, size, 1) : pq_store(o, size, 1);
  } else {
    o->op = PQ_OP_OTHER;
    o->undecoded = o->mem_unknown = true;
  }
}
