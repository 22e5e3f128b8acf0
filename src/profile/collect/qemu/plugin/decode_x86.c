/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86-64 instructions by libcapstone, with its gaps filled in here. */
#include "decode_x86.h"

#include <capstone/capstone.h>
#include <string.h>

#include "latency.h"
#include "x86_class.h"

static csh handle;
static cs_insn* scratch;
static struct pq_x86_class classes[X86_INS_ENDING];
static bool known[X86_INS_ENDING];
static uint8_t reg_map[X86_REG_ENDING]; /* capstone register -> ours, 0xff: ignored */

enum { REG_NONE = 0xff, RSP = 4 };

static void map_reg(unsigned r, unsigned ours) { reg_map[r] = (uint8_t)ours; }

static void fill_reg_map(void) {
  static const uint16_t gpr[16][5] = {{X86_REG_AL, X86_REG_AH, X86_REG_AX, X86_REG_EAX, X86_REG_RAX},
                                      {X86_REG_CL, X86_REG_CH, X86_REG_CX, X86_REG_ECX, X86_REG_RCX},
                                      {X86_REG_DL, X86_REG_DH, X86_REG_DX, X86_REG_EDX, X86_REG_RDX},
                                      {X86_REG_BL, X86_REG_BH, X86_REG_BX, X86_REG_EBX, X86_REG_RBX},
                                      {X86_REG_SPL, X86_REG_SPL, X86_REG_SP, X86_REG_ESP, X86_REG_RSP},
                                      {X86_REG_BPL, X86_REG_BPL, X86_REG_BP, X86_REG_EBP, X86_REG_RBP},
                                      {X86_REG_SIL, X86_REG_SIL, X86_REG_SI, X86_REG_ESI, X86_REG_RSI},
                                      {X86_REG_DIL, X86_REG_DIL, X86_REG_DI, X86_REG_EDI, X86_REG_RDI},
                                      {X86_REG_R8B, X86_REG_R8B, X86_REG_R8W, X86_REG_R8D, X86_REG_R8},
                                      {X86_REG_R9B, X86_REG_R9B, X86_REG_R9W, X86_REG_R9D, X86_REG_R9},
                                      {X86_REG_R10B, X86_REG_R10B, X86_REG_R10W, X86_REG_R10D, X86_REG_R10},
                                      {X86_REG_R11B, X86_REG_R11B, X86_REG_R11W, X86_REG_R11D, X86_REG_R11},
                                      {X86_REG_R12B, X86_REG_R12B, X86_REG_R12W, X86_REG_R12D, X86_REG_R12},
                                      {X86_REG_R13B, X86_REG_R13B, X86_REG_R13W, X86_REG_R13D, X86_REG_R13},
                                      {X86_REG_R14B, X86_REG_R14B, X86_REG_R14W, X86_REG_R14D, X86_REG_R14},
                                      {X86_REG_R15B, X86_REG_R15B, X86_REG_R15W, X86_REG_R15D, X86_REG_R15}};
  memset(reg_map, REG_NONE, sizeof reg_map);
  for (unsigned i = 0; i < 16; i++)
    for (unsigned j = 0; j < 5; j++) map_reg(gpr[i][j], i);
  for (unsigned i = 0; i < 32; i++) {
    map_reg(X86_REG_XMM0 + i, PQ_REG_VEC + i);
    map_reg(X86_REG_YMM0 + i, PQ_REG_VEC + i);
    map_reg(X86_REG_ZMM0 + i, PQ_REG_VEC + i);
  }
  for (unsigned i = 0; i < 8; i++) {
    map_reg(X86_REG_ST0 + i, PQ_REG_X87);
    map_reg(X86_REG_MM0 + i, PQ_REG_VEC + 24 + i); /* beside xmm24.., which AVX2 code lacks */
    map_reg(X86_REG_K0 + i, PQ_REG_MASK + i);
  }
  map_reg(X86_REG_EFLAGS, PQ_REG_FLAGS);
}

bool pq_x86_open(void) {
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK) return false;
  cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  fill_reg_map();
  scratch = cs_malloc(handle);
  return scratch != NULL;
}

static const struct pq_x86_class* class_of(unsigned id) {
  if (!known[id]) {
    classes[id] = pq_x86_classify(cs_insn_name(handle, id));
    known[id] = true;
  }
  return &classes[id];
}

/* String instructions by opcode byte: their names are shared with SSE's. */
static unsigned string_element(const uint8_t* b, size_t n, uint8_t* opcode, bool* rep) {
  bool opsize = false, wide = false;
  *rep = false;
  size_t i = 0;
  for (; i < n; i++) {
    if (b[i] == 0x66)
      opsize = true;
    else if (b[i] == 0xf2 || b[i] == 0xf3)
      *rep = true;
    else if (b[i] == 0x67 || b[i] == 0x2e || b[i] == 0x36 || b[i] == 0x3e || b[i] == 0x26 || b[i] == 0x64 ||
             b[i] == 0x65)
      continue;
    else
      break;
  }
  if (i < n && (b[i] & 0xf0) == 0x40) wide = b[i++] & 8;
  if (i >= n) return 0;
  *opcode = b[i];
  if (!((b[i] >= 0xa4 && b[i] <= 0xa7) || (b[i] >= 0xaa && b[i] <= 0xaf))) return 0;
  return b[i] & 1 ? (wide ? 8 : opsize ? 2 : 4) : 1;
}

static void decode_string(uint8_t opcode, unsigned element, bool rep, struct pq_insn* out) {
  enum { RAX = 0, RCX = 1, RSI = 6, RDI = 7 };
  out->op = PQ_OP_STRING;
  out->is_string = true;
  out->is_rep = rep;
  bool load = opcode != 0xaa && opcode != 0xab, store = opcode == 0xa4 || opcode == 0xa5 || !load;
  bool compare = opcode == 0xa6 || opcode == 0xa7;
  out->n_load = compare ? 2 : load;
  out->n_store = store;
  out->load_size = out->store_size = (uint16_t)element;
  if (opcode != 0xac && opcode != 0xad) pq_add_addr(out, RDI), pq_add_dst(out, RDI);
  if (opcode <= 0xa7 || opcode == 0xac || opcode == 0xad) pq_add_addr(out, RSI), pq_add_dst(out, RSI);
  if (opcode == 0xac || opcode == 0xad) pq_add_dst(out, RAX);
  if (opcode == 0xaa || opcode == 0xab || opcode >= 0xae) pq_add_src(out, RAX);
  if (compare || opcode >= 0xae) pq_add_dst(out, PQ_REG_FLAGS);
  if (rep) pq_add_src(out, RCX), pq_add_dst(out, RCX);
  pq_set_latency(out);
}

static bool is_vec_reg(unsigned r) {
  return (r >= X86_REG_XMM0 && r <= X86_REG_ZMM31) || (r >= X86_REG_MM0 && r <= X86_REG_MM7);
}

static unsigned vec_width(unsigned r) { /* in units of 64 bits */
  if (r >= X86_REG_ZMM0 && r <= X86_REG_ZMM31) return 8;
  if (r >= X86_REG_YMM0 && r <= X86_REG_YMM31) return 4;
  if (r >= X86_REG_XMM0 && r <= X86_REG_XMM31) return 2;
  return 1;
}

static void set_access(struct pq_insn* out, unsigned access, unsigned size) {
  if (access & CS_AC_READ) {
    out->n_load++;
    out->load_size = (uint16_t)size;
  }
  if (access & CS_AC_WRITE) {
    out->n_store++;
    out->store_size = (uint16_t)size;
  }
}

static unsigned state_save_size(const char* name) {
  if (!strncmp(name, "fxsave", 6) || !strncmp(name, "fxrstor", 7)) return 512;
  return !strncmp(name, "xsave", 5) || !strncmp(name, "xrstor", 6) ? 592 : 0;
}

/* Where capstone 4 is wrong about memory operands. */
static void correct_access(const cs_insn* in, const struct pq_x86_class* c, unsigned at, unsigned* access,
                           unsigned* size) {
  switch (in->id) {
    case X86_INS_TEST:
      *access = CS_AC_READ;
      return;
    case X86_INS_FNSTCW:
    case X86_INS_FNSTSW:
    case X86_INS_STMXCSR:
    case X86_INS_VSTMXCSR:
      *access = CS_AC_WRITE;
      return;
    default:
      break;
  }
  if (c->simd && at == 0) *access = CS_AC_WRITE; /* a SIMD destination */
  if (c->fp_size && !c->packed && *size > c->fp_size) *size = c->fp_size;
}

static void add_operands(const cs_insn* in, const struct pq_x86_class* c, struct pq_insn* out) {
  const cs_x86* x = &in->detail->x86;
  unsigned n = x->op_count;
  bool no_memory =
      out->op == PQ_OP_LEA || out->op == PQ_OP_NOP || out->op == PQ_OP_PREFETCH || out->op == PQ_OP_CACHE_CONTROL;
  for (unsigned i = 0; i < n; i++) {
    const cs_x86_op* o = &x->operands[i];
    if (o->type == X86_OP_REG) {
      unsigned r = reg_map[o->reg];
      if (c->simd && is_vec_reg(o->reg) && vec_width(o->reg) > out->vec_words)
        out->vec_words = (uint8_t)vec_width(o->reg);
      if (r == REG_NONE) continue;
      unsigned access = o->access;
      if (out->op == PQ_OP_NOP || out->op == PQ_OP_PREFETCH) continue;
      if (access & CS_AC_READ) pq_add_src(out, r);
      if (access & CS_AC_WRITE) pq_add_dst(out, r);
    } else if (o->type == X86_OP_MEM) {
      unsigned base = reg_map[o->mem.base], index = reg_map[o->mem.index];
      if (o->mem.base != X86_REG_INVALID && base != REG_NONE)
        out->op == PQ_OP_LEA ? pq_add_src(out, base) : pq_add_addr(out, base);
      if (o->mem.index != X86_REG_INVALID && index != REG_NONE)
        out->op == PQ_OP_LEA ? pq_add_src(out, index) : pq_add_addr(out, index);
      if (no_memory) continue;
      unsigned access = o->access ? o->access : (unsigned)CS_AC_READ, size = o->size ? o->size : 8;
      correct_access(in, c, i, &access, &size);
      set_access(out, access, size);
    }
  }
  for (unsigned i = 0; i < in->detail->regs_read_count; i++) {
    unsigned r = reg_map[in->detail->regs_read[i]];
    if (r != REG_NONE) pq_add_src(out, r);
  }
  for (unsigned i = 0; i < in->detail->regs_write_count; i++) {
    unsigned r = reg_map[in->detail->regs_write[i]];
    if (r != REG_NONE) pq_add_dst(out, r);
  }
}

/* The stack engine makes rsp free in these. */
static void drop_stack_pointer(struct pq_insn* out) {
  unsigned k = 0;
  for (unsigned i = 0; i < out->n_src; i++)
    if (out->src[i] != RSP) out->src[k++] = out->src[i];
  out->n_src = (uint8_t)k;
  k = 0;
  for (unsigned i = 0; i < out->n_dst; i++)
    if (out->dst[i] != RSP) out->dst[k++] = out->dst[i];
  out->n_dst = (uint8_t)k;
}

static void add_stack_access(const cs_insn* in, struct pq_insn* out) {
  unsigned id = in->id;
  unsigned size = in->detail->x86.op_count ? in->detail->x86.operands[0].size : 8;
  if (id == X86_INS_PUSH || id == X86_INS_POP)
    size = size == 2 ? 2 : 8;
  else
    size = 8;
  bool pop =
      id == X86_INS_POP || id == X86_INS_LEAVE || id == X86_INS_POPFQ || id == X86_INS_POPF || out->op == PQ_OP_RET;
  set_access(out, pop ? CS_AC_READ : CS_AC_WRITE, size);
}

static void set_branch(const cs_insn* in, struct pq_insn* out) {
  const cs_x86* x = &in->detail->x86;
  bool direct = x->op_count && x->operands[0].type == X86_OP_IMM;
  switch (out->op) {
    case PQ_OP_COND_BRANCH:
      out->branch = PQ_BR_COND;
      break;
    case PQ_OP_JUMP:
      out->branch = direct ? PQ_BR_JUMP : PQ_BR_IND;
      if (!direct) out->op = PQ_OP_IND_BRANCH;
      break;
    case PQ_OP_CALL:
      out->branch = direct ? PQ_BR_CALL : PQ_BR_IND_CALL;
      if (!direct) out->op = PQ_OP_IND_CALL;
      break;
    case PQ_OP_RET:
      out->branch = PQ_BR_RET;
      break;
    default:
      break;
  }
}

/* xor r,r and its like: the result depends on nothing. */
static bool is_zero_idiom(const cs_insn* in) {
  const cs_x86* x = &in->detail->x86;
  switch (in->id) {
    case X86_INS_XOR:
    case X86_INS_SUB:
    case X86_INS_PXOR:
    case X86_INS_XORPS:
    case X86_INS_XORPD:
    case X86_INS_VPXOR:
    case X86_INS_VXORPS:
    case X86_INS_VXORPD:
      break;
    default:
      return false;
  }
  unsigned n = x->op_count;
  if (n < 2 || x->operands[n - 1].type != X86_OP_REG || x->operands[n - 2].type != X86_OP_REG) return false;
  return x->operands[n - 1].reg == x->operands[n - 2].reg && x->operands[n - 1].size >= 4;
}

static void set_simd(const cs_insn* in, const struct pq_x86_class* c, struct pq_insn* out) {
  const cs_x86* x = &in->detail->x86;
  unsigned words = out->vec_words;
  if (c->fp_size) {
    out->fp_size = c->fp_size;
    unsigned lanes = c->packed ? words * 8u / c->fp_size : 1;
    out->flops = (uint8_t)(lanes * (out->op == PQ_OP_FP_FMA_VEC || out->op == PQ_OP_FP_FMA_SCALAR ? 2 : 1));
  }
  if (c->packed)
    out->vec_fp = c->fp;
  else
    out->vec_words = 0;
  bool has_memory = out->n_load || out->n_store;
  if (has_memory && out->op == PQ_OP_VEC_SHUFFLE && x->op_count == 2 && out->n_store)
    out->op = PQ_OP_VEC_MOV; /* movhps to memory and the like */
  const char* name = cs_insn_name(handle, in->id);
  const char* gather = name ? strstr(name, "gather") : NULL;
  if (gather && out->n_load) {
    unsigned element = strchr("qd", name[strlen(name) - 1]) ? out->load_size : 4;
    if (element != 4 && element != 8) element = 4;
    out->load_size = (uint16_t)element;
    out->n_load = (uint8_t)(words * 8u / element);
  }
}

/* vbroadcasti128 is AVX2, but unknown to capstone 4. */
static bool decode_missing(const uint8_t* b, size_t n, struct pq_insn* out) {
  if (n < 5 || b[0] != 0xc4 || (b[1] & 0x1f) != 2 || b[3] != 0x5a) return false;
  out->op = PQ_OP_VEC_SHUFFLE;
  out->vec_words = 4;
  set_access(out, CS_AC_READ, 16);
  pq_add_addr(out, (b[4] & 7) | (b[1] & 0x20 ? 0 : 8)); /* a SIB byte's index is left out */
  pq_add_dst(out, PQ_REG_VEC + ((b[4] >> 3 & 7) | (b[1] & 0x80 ? 0 : 8)));
  pq_set_latency(out);
  return true;
}

void pq_x86_decode(const uint8_t* bytes, size_t size, uint64_t pc, struct pq_insn* out) {
  memset(out, 0, sizeof *out);
  bool rep;
  uint8_t opcode;
  unsigned element = string_element(bytes, size, &opcode, &rep);
  if (element) {
    decode_string(opcode, element, rep, out);
    return;
  }
  const uint8_t* p = bytes;
  size_t left = size;
  uint64_t at = pc;
  if (!cs_disasm_iter(handle, &p, &left, &at, scratch) || left != 0) {
    if (decode_missing(bytes, size, out)) return;
    out->op = PQ_OP_OTHER;
    out->undecoded = out->mem_unknown = true;
    pq_set_latency(out);
    return;
  }
  const cs_insn* in = scratch;
  const struct pq_x86_class* c = class_of(in->id);
  out->op = c->op;
  add_operands(in, c, out);
  set_branch(in, out);
  bool lock = in->detail->x86.prefix[0] == X86_PREFIX_LOCK;
  bool atomic = lock || (in->id == X86_INS_XCHG && (out->n_load || out->n_store));
  if (atomic) {
    out->op = PQ_OP_ATOMIC;
    if (!out->n_store) { /* cmpxchg: capstone knows only the read */
      out->n_store = 1;
      out->store_size = out->load_size;
    }
    pq_add_dst(out, PQ_REG_FLAGS);
    if (in->id == X86_INS_CMPXCHG) pq_add_dst(out, 0);
  }
  if (out->op == PQ_OP_PUSH_POP || out->op == PQ_OP_CALL || out->op == PQ_OP_IND_CALL || out->op == PQ_OP_RET) {
    add_stack_access(in, out);
    drop_stack_pointer(out);
  }
  if (out->op == PQ_OP_INT_DIV && in->detail->x86.op_count) out->div_size = in->detail->x86.operands[0].size;
  if (out->op == PQ_OP_INT_MUL)
    out->mul_wide = in->id == X86_INS_MULX || in->id == X86_INS_MUL || in->detail->x86.op_count == 1;
  if (out->op >= PQ_OP_X87_SIMPLE && out->op <= PQ_OP_X87_TRANS) {
    bool write_only =
        in->id == X86_INS_FLD || in->id == X86_INS_FILD || in->id == X86_INS_FLD1 || in->id == X86_INS_FLDZ;
    if (!write_only) pq_add_src(out, PQ_REG_X87);
    pq_add_dst(out, PQ_REG_X87);
  }
  if (c->simd) set_simd(in, c, out);
  if (is_zero_idiom(in)) {
    out->zero_idiom = true;
    out->n_src = 0;
  }
  if (out->op == PQ_OP_OTHER && (out->n_load || out->n_store)) {
    unsigned bulk = state_save_size(cs_insn_name(handle, in->id));
    if (bulk && out->n_load) out->load_size = (uint16_t)bulk;
    if (bulk && out->n_store) out->store_size = (uint16_t)bulk;
  }
  pq_set_latency(out);
  if (c->slow) out->latency = c->slow;
  if (out->zero_idiom) out->latency = 0;
  if (in->id == X86_INS_LEAVE || in->id == X86_INS_POP) out->latency = 0;
}
