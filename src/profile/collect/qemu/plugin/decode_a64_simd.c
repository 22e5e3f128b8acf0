/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A64 scalar floating point and Advanced SIMD. */
#include "decode_a64_simd.h"

#include "a64_fields.h"

static unsigned rd_of(uint32_t w) { return pq_bits(w, 0, 5); }
static unsigned rn_of(uint32_t w) { return pq_bits(w, 5, 5); }
static unsigned rm_of(uint32_t w) { return pq_bits(w, 16, 5); }

static void fp_scalar(uint32_t w, struct pq_insn* o, unsigned op, bool two) {
  unsigned type = pq_bits(w, 22, 2);
  o->op = (uint8_t)op;
  o->fp_size = type == 1 ? 8 : 4;
  o->flops = op == PQ_OP_FP_FMA_SCALAR ? 2 : 1;
  pq_src_v(o, rn_of(w));
  if (two) pq_src_v(o, rm_of(w));
}

static void one_source(uint32_t w, struct pq_insn* o) {
  unsigned opcode = pq_bits(w, 15, 6);
  if (opcode == 0) {
    o->op = PQ_OP_FP_MOV_SCALAR;
    pq_src_v(o, rn_of(w));
  } else if (opcode == 3) {
    fp_scalar(w, o, PQ_OP_FP_SCALAR_SQRT, false);
  } else if (opcode == 4 || opcode == 5 || opcode == 7 || opcode == 6) {
    o->op = PQ_OP_FP_CVT;
    pq_src_v(o, rn_of(w));
  } else { /* fabs, fneg, frint* */
    fp_scalar(w, o, PQ_OP_FP_SCALAR_ADD, false);
  }
  pq_dst_v(o, rd_of(w));
}

/* Conversion or move between a general and a vector register. */
static void with_general(uint32_t w, struct pq_insn* o, bool fixed) {
  unsigned rmode = pq_bits(w, 19, 2), opcode = pq_bits(w, 16, 3);
  bool move = !fixed && opcode >= 6 && (rmode == 0 || rmode == 1);
  bool to_vector = (opcode == 2 || opcode == 3 || opcode == 7);
  o->op = move ? PQ_OP_VEC_MOV : PQ_OP_FP_CVT;
  if (move) o->vec_words = 1;
  if (to_vector) {
    pq_src_x(o, rn_of(w));
    pq_dst_v(o, rd_of(w));
  } else {
    pq_src_v(o, rn_of(w));
    pq_dst_x(o, rd_of(w));
  }
}

static void fp_instruction(uint32_t w, struct pq_insn* o) {
  if (pq_bit(w, 24)) { /* fmadd, fmsub, fnmadd, fnmsub */
    fp_scalar(w, o, PQ_OP_FP_FMA_SCALAR, true);
    pq_src_v(o, pq_bits(w, 10, 5));
    pq_dst_v(o, rd_of(w));
  } else if (!pq_bit(w, 21)) {
    with_general(w, o, true);
  } else if (pq_bits(w, 10, 6) == 0) {
    with_general(w, o, false);
  } else if (pq_bits(w, 10, 5) == 0x10) {
    one_source(w, o);
  } else if (pq_bits(w, 10, 4) == 8) { /* fcmp */
    bool with_zero = pq_bit(w, 3);
    fp_scalar(w, o, PQ_OP_FP_SCALAR_ADD, !with_zero);
    pq_add_dst(o, PQ_REG_FLAGS);
  } else if (pq_bits(w, 10, 3) == 4) { /* fmov immediate */
    o->op = PQ_OP_FP_MOV_SCALAR;
    pq_dst_v(o, rd_of(w));
  } else if (pq_bits(w, 10, 2) == 1) { /* fccmp */
    fp_scalar(w, o, PQ_OP_FP_SCALAR_ADD, true);
    pq_add_src(o, PQ_REG_FLAGS);
    pq_add_dst(o, PQ_REG_FLAGS);
  } else if (pq_bits(w, 10, 2) == 2) {
    unsigned opcode = pq_bits(w, 12, 4);
    fp_scalar(w, o,
              opcode == 0 || opcode == 8 ? PQ_OP_FP_SCALAR_MUL
              : opcode == 1              ? PQ_OP_FP_SCALAR_DIV
                                         : PQ_OP_FP_SCALAR_ADD,
              true);
    pq_dst_v(o, rd_of(w));
  } else { /* fcsel */
    o->op = PQ_OP_SELECT;
    pq_src_v(o, rn_of(w));
    pq_src_v(o, rm_of(w));
    pq_add_src(o, PQ_REG_FLAGS);
    pq_dst_v(o, rd_of(w));
  }
}

static void vector_fp(struct pq_insn* o, unsigned op, unsigned fp_size) {
  o->op = (uint8_t)op;
  o->vec_fp = true;
  o->fp_size = (uint8_t)fp_size;
  unsigned lanes = o->vec_words * 8u / fp_size;
  o->flops = (uint8_t)(op == PQ_OP_FP_FMA_VEC ? 2 * lanes : lanes);
}

/* Integer or floating-point arithmetic on three registers of the same shape. */
static void three_same(uint32_t w, struct pq_insn* o) {
  bool u = pq_bit(w, 29), high = pq_bit(w, 23);
  unsigned opcode = pq_bits(w, 11, 5), fp_size = pq_bit(w, 22) ? 8 : 4;
  bool accumulates = false;
  if (opcode >= 24) {
    switch (opcode) {
      case 0x19: /* fmla, fmls; with u and !high fmlal2 */
        vector_fp(o, PQ_OP_FP_FMA_VEC, fp_size);
        accumulates = true;
        break;
      case 0x1b:
        vector_fp(o, PQ_OP_FP_VEC_MUL, fp_size);
        break;   /* fmul, fmulx */
      case 0x1f: /* frecps, frsqrts; fdiv */
        vector_fp(o, u && !high ? PQ_OP_FP_VEC_DIV : PQ_OP_FP_VEC_MUL, fp_size);
        break;
      default:
        vector_fp(o, PQ_OP_FP_VEC_ADD, fp_size);
        break;
    }
  } else if (opcode == 3) {
    o->op = PQ_OP_VEC_LOGIC;
    bool same = rn_of(w) == rm_of(w);
    unsigned size = pq_bits(w, 22, 2);
    if (same && u && size == 0) o->zero_idiom = true;              /* eor v,v */
    if (same && !u && size == 2) o->op = PQ_OP_VEC_MOV;            /* orr v,v is mov */
    accumulates = u && size != 0;                                  /* bsl, bit, bif */
  } else if (opcode == 0x12 || opcode == 0x13 || opcode == 0x16) { /* mla, mul, sqdmulh */
    o->op = PQ_OP_VEC_INT_MUL;
    accumulates = opcode == 0x12;
  } else {
    o->op = PQ_OP_VEC_INT_ALU;
    accumulates = opcode == 0x0f; /* saba, uaba */
  }
  pq_src_v(o, rn_of(w));
  pq_src_v(o, rm_of(w));
  if (accumulates) pq_src_v(o, rd_of(w));
}

static void two_misc(uint32_t w, struct pq_insn* o) {
  bool u = pq_bit(w, 29), high = pq_bit(w, 23);
  unsigned opcode = pq_bits(w, 12, 5), fp_size = pq_bit(w, 22) ? 8 : 4;
  pq_src_v(o, rn_of(w));
  if (opcode == 0x1f && u && high) {
    vector_fp(o, PQ_OP_FP_VEC_DIV, fp_size); /* fsqrt */
  } else if (opcode == 0x1d && high) {
    vector_fp(o, PQ_OP_FP_VEC_MUL, fp_size); /* frecpe, frsqrte */
  } else if (opcode == 0x16 || opcode == 0x17 || (opcode >= 0x1a && opcode <= 0x1d)) {
    bool rounds = !high && (opcode == 0x18 || opcode == 0x19);
    o->op = rounds ? PQ_OP_FP_VEC_ADD : PQ_OP_FP_CVT;
    o->vec_fp = true;
  } else if ((opcode >= 0x0c && opcode <= 0x0f && high) || opcode == 0x18 || opcode == 0x19) {
    vector_fp(o, PQ_OP_FP_VEC_ADD, fp_size); /* compares with zero, fabs, fneg, frint* */
  } else if (opcode == 0 || opcode == 1 || opcode == 0x12 || opcode == 0x13 || opcode == 0x14) {
    o->op = PQ_OP_VEC_SHUFFLE; /* rev*, xtn, shll, saturating narrows */
  } else if (opcode == 5) {
    o->op = PQ_OP_VEC_LOGIC; /* cnt, not, rbit */
  } else {
    o->op = PQ_OP_VEC_INT_ALU;
  }
}

static void three_different(uint32_t w, struct pq_insn* o) {
  unsigned opcode = pq_bits(w, 12, 4);
  bool multiply = opcode >= 8 && opcode != 0xe;
  o->op = multiply ? PQ_OP_VEC_INT_MUL : PQ_OP_VEC_INT_ALU;
  if (opcode == 0xe) o->op = pq_bits(w, 22, 2) == 3 || pq_bits(w, 22, 2) == 0 ? PQ_OP_CRYPTO : PQ_OP_VEC_INT_ALU;
  o->vec_words = 2;
  pq_src_v(o, rn_of(w));
  pq_src_v(o, rm_of(w));
  if (opcode == 5 || opcode == 7 || (multiply && opcode != 0xc && opcode != 0xd && opcode != 0xb))
    pq_src_v(o, rd_of(w));
}

static void by_element(uint32_t w, struct pq_insn* o) {
  unsigned opcode = pq_bits(w, 12, 4), fp_size = pq_bit(w, 22) ? 8 : 4;
  bool u = pq_bit(w, 29), high = pq_bit(w, 23);
  bool accumulates = false;
  if ((opcode == 1 || opcode == 5) && !u && (high || !pq_bit(w, 22))) {
    vector_fp(o, PQ_OP_FP_FMA_VEC, fp_size);
    accumulates = true;
  } else if (opcode == 9 && (high || !pq_bit(w, 22))) {
    vector_fp(o, PQ_OP_FP_VEC_MUL, fp_size);
  } else {
    o->op = PQ_OP_VEC_INT_MUL;
    accumulates = opcode != 8 && opcode != 0xa && opcode != 0xb && opcode != 0xc && opcode != 0xd;
  }
  pq_src_v(o, rn_of(w));
  pq_src_v(o, rm_of(w));
  if (accumulates) pq_src_v(o, rd_of(w));
}

static void copy(uint32_t w, struct pq_insn* o) {
  unsigned imm4 = pq_bits(w, 11, 4);
  o->op = PQ_OP_VEC_SHUFFLE;
  if (!pq_bit(w, 29) && (imm4 == 5 || imm4 == 7)) { /* smov, umov */
    pq_src_v(o, rn_of(w));
    pq_dst_x(o, rd_of(w));
    return;
  }
  if (!pq_bit(w, 29) && (imm4 == 1 || imm4 == 3))
    pq_src_x(o, rn_of(w)); /* from general */
  else
    pq_src_v(o, rn_of(w));
  if (imm4 == 3 || pq_bit(w, 29)) pq_src_v(o, rd_of(w));
  pq_dst_v(o, rd_of(w));
}

/* Shift by immediate, or a constant where immh is zero. */
static void immediate(uint32_t w, struct pq_insn* o) {
  if (pq_bits(w, 19, 4) == 0) {
    o->op = PQ_OP_VEC_MOV;
    if ((pq_bits(w, 12, 4) & 9) == 1 && pq_bits(w, 12, 4) < 12) { /* orr, bic */
      o->op = PQ_OP_VEC_LOGIC;
      pq_src_v(o, rd_of(w));
    }
    return;
  }
  unsigned opcode = pq_bits(w, 11, 5);
  o->op = PQ_OP_VEC_INT_ALU;
  if (opcode == 0x1c || opcode == 0x1f) {
    o->op = PQ_OP_FP_CVT;
    o->vec_fp = true;
  } else if (opcode >= 0x10) {
    o->op = PQ_OP_VEC_SHUFFLE; /* narrowing and lengthening shifts */
  }
  pq_src_v(o, rn_of(w));
  if (opcode == 2 || opcode == 6 || opcode == 8 || (opcode == 10 && pq_bit(w, 29))) pq_src_v(o, rd_of(w));
}

/* A scalar form keeps its class, as scalar where that is floating point. */
static void make_scalar(struct pq_insn* o) {
  switch (o->op) {
    case PQ_OP_FP_VEC_ADD:
      o->op = PQ_OP_FP_SCALAR_ADD;
      break;
    case PQ_OP_FP_VEC_MUL:
      o->op = PQ_OP_FP_SCALAR_MUL;
      break;
    case PQ_OP_FP_VEC_DIV:
      o->op = PQ_OP_FP_SCALAR_DIV;
      break;
    case PQ_OP_FP_FMA_VEC:
      o->op = PQ_OP_FP_FMA_SCALAR;
      break;
    default:
      break;
  }
  if (o->flops) o->flops = o->op == PQ_OP_FP_FMA_SCALAR ? 2 : 1;
  if (o->vec_fp) o->vec_words = 0;
  o->vec_fp = false;
}

static void crypto(uint32_t w, struct pq_insn* o) {
  o->op = PQ_OP_CRYPTO;
  pq_src_v(o, rn_of(w));
  pq_src_v(o, rm_of(w));
  pq_src_v(o, rd_of(w));
  pq_dst_v(o, rd_of(w));
}

static void vector(uint32_t w, struct pq_insn* o) {
  bool scalar = pq_bit(w, 28), second = pq_bit(w, 24), b21 = pq_bit(w, 21), b10 = pq_bit(w, 10);
  o->vec_words = pq_bit(w, 30) && !scalar ? 2 : 1;
  if ((w & 0xff3e0c00) == 0x4e280800 || (w & 0xff200c00) == 0x5e000000 ||
      (w & 0xff3e0c00) == 0x5e280800) { /* aes, sha1, sha256 */
    o->vec_words = 2;
    crypto(w, o);
    return;
  }
  if (second) {
    if (b10)
      immediate(w, o);
    else
      by_element(w, o);
  } else if (b21) {
    if (b10)
      three_same(w, o);
    else if (!pq_bit(w, 11))
      three_different(w, o);
    else if (pq_bits(w, 17, 4) == 0)
      two_misc(w, o);
    else { /* across lanes, pairwise scalar, half-precision two-register */
      unsigned opcode = pq_bits(w, 12, 5);
      pq_src_v(o, rn_of(w));
      if (opcode == 0x0c || opcode == 0x0f || opcode == 0x0d)
        vector_fp(o, PQ_OP_FP_VEC_ADD, 4);
      else
        o->op = PQ_OP_VEC_INT_ALU;
    }
  } else if (pq_bit(w, 15) && b10) { /* three-same extra: dot products, complex */
    bool complex = pq_bits(w, 11, 4) >= 8;
    if (complex)
      vector_fp(o, PQ_OP_FP_VEC_OTHER, pq_bits(w, 22, 2) == 3 ? 8 : 4);
    else
      o->op = PQ_OP_VEC_INT_MUL;
    pq_src_v(o, rn_of(w));
    pq_src_v(o, rm_of(w));
    pq_src_v(o, rd_of(w));
  } else if (b10 && pq_bits(w, 22, 2) == 0) {
    copy(w, o);
    if (scalar) o->op = PQ_OP_VEC_MOV;
    return;
  } else { /* tbl, zip, uzp, trn, ext; half-precision three-same */
    o->op = b10 ? PQ_OP_FP_VEC_OTHER : PQ_OP_VEC_SHUFFLE;
    pq_src_v(o, rn_of(w));
    pq_src_v(o, rm_of(w));
  }
  if (o->n_dst == 0) pq_dst_v(o, rd_of(w));
  if (scalar) make_scalar(o);
}

void pq_a64_simd(uint32_t w, struct pq_insn* o) {
  if ((w & 0x5e000000) == 0x1e000000) { /* bits 30 0, 28:25 1111 */
    fp_instruction(w, o);
  } else if (!pq_bit(w, 31)) {
    vector(w, o);
  } else if ((w & 0xff000000) == 0xce000000) { /* sha512, sha3, sm3, sm4 */
    o->vec_words = 2;
    crypto(w, o);
    if (pq_bits(w, 21, 3) <= 1 && !pq_bit(w, 15)) o->op = PQ_OP_VEC_LOGIC; /* eor3, bcax */
  } else {
    o->op = PQ_OP_OTHER;
    o->undecoded = true;
  }
}
