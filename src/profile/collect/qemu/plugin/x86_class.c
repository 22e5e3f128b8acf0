/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "x86_class.h"

#include <string.h>

#include "keys.h"

struct rule {
  const char* text; /* a trailing '*' makes it a prefix */
  uint8_t op;
};

static const struct rule integer_rules[] = {{"add", PQ_OP_INT_ALU},
                                            {"sub", PQ_OP_INT_ALU},
                                            {"inc", PQ_OP_INT_ALU},
                                            {"dec", PQ_OP_INT_ALU},
                                            {"neg", PQ_OP_INT_ALU},
                                            {"cmp", PQ_OP_INT_ALU},
                                            {"adc", PQ_OP_INT_ALU},
                                            {"sbb", PQ_OP_INT_ALU},
                                            {"adcx", PQ_OP_INT_ALU},
                                            {"adox", PQ_OP_INT_ALU},
                                            {"cbw", PQ_OP_INT_ALU},
                                            {"cwde", PQ_OP_INT_ALU},
                                            {"cdqe", PQ_OP_INT_ALU},
                                            {"cwd", PQ_OP_INT_ALU},
                                            {"cdq", PQ_OP_INT_ALU},
                                            {"cqo", PQ_OP_INT_ALU},
                                            {"xadd", PQ_OP_INT_ALU},
                                            {"cmpxchg*", PQ_OP_INT_ALU},
                                            {"lahf", PQ_OP_INT_ALU},
                                            {"sahf", PQ_OP_INT_ALU},
                                            {"clc", PQ_OP_INT_ALU},
                                            {"stc", PQ_OP_INT_ALU},
                                            {"cmc", PQ_OP_INT_ALU},
                                            {"imul", PQ_OP_INT_MUL},
                                            {"mul", PQ_OP_INT_MUL},
                                            {"mulx", PQ_OP_INT_MUL},
                                            {"div", PQ_OP_INT_DIV},
                                            {"idiv", PQ_OP_INT_DIV},
                                            {"and", PQ_OP_LOGIC},
                                            {"or", PQ_OP_LOGIC},
                                            {"xor", PQ_OP_LOGIC},
                                            {"not", PQ_OP_LOGIC},
                                            {"test", PQ_OP_LOGIC},
                                            {"popcnt", PQ_OP_LOGIC},
                                            {"bsf", PQ_OP_LOGIC},
                                            {"bsr", PQ_OP_LOGIC},
                                            {"lzcnt", PQ_OP_LOGIC},
                                            {"tzcnt", PQ_OP_LOGIC},
                                            {"bt", PQ_OP_LOGIC},
                                            {"bts", PQ_OP_LOGIC},
                                            {"btr", PQ_OP_LOGIC},
                                            {"btc", PQ_OP_LOGIC},
                                            {"andn", PQ_OP_LOGIC},
                                            {"bextr", PQ_OP_LOGIC},
                                            {"bls*", PQ_OP_LOGIC},
                                            {"bzhi", PQ_OP_LOGIC},
                                            {"pdep", PQ_OP_LOGIC},
                                            {"pext", PQ_OP_LOGIC},
                                            {"bswap", PQ_OP_LOGIC},
                                            {"blci*", PQ_OP_LOGIC},
                                            {"tzmsk", PQ_OP_LOGIC},
                                            {"shl", PQ_OP_SHIFT},
                                            {"shr", PQ_OP_SHIFT},
                                            {"sar", PQ_OP_SHIFT},
                                            {"sal", PQ_OP_SHIFT},
                                            {"rol", PQ_OP_SHIFT},
                                            {"ror", PQ_OP_SHIFT},
                                            {"rcl", PQ_OP_SHIFT},
                                            {"rcr", PQ_OP_SHIFT},
                                            {"shld", PQ_OP_SHIFT},
                                            {"shrd", PQ_OP_SHIFT},
                                            {"sarx", PQ_OP_SHIFT},
                                            {"shlx", PQ_OP_SHIFT},
                                            {"shrx", PQ_OP_SHIFT},
                                            {"rorx", PQ_OP_SHIFT},
                                            {"mov", PQ_OP_MOV},
                                            {"movabs", PQ_OP_MOV},
                                            {"movzx", PQ_OP_MOV},
                                            {"movsx", PQ_OP_MOV},
                                            {"movsxd", PQ_OP_MOV},
                                            {"movbe", PQ_OP_MOV},
                                            {"movnti", PQ_OP_MOV},
                                            {"xchg", PQ_OP_MOV},
                                            {"xlatb", PQ_OP_MOV},
                                            {"lea", PQ_OP_LEA},
                                            {"cmov*", PQ_OP_SELECT},
                                            {"set*", PQ_OP_SELECT},
                                            {"push*", PQ_OP_PUSH_POP},
                                            {"popa*", PQ_OP_PUSH_POP},
                                            {"popf*", PQ_OP_PUSH_POP},
                                            {"pop", PQ_OP_PUSH_POP},
                                            {"enter", PQ_OP_PUSH_POP},
                                            {"leave", PQ_OP_PUSH_POP},
                                            {"jmp", PQ_OP_JUMP},
                                            {"ljmp", PQ_OP_JUMP},
                                            {"j*", PQ_OP_COND_BRANCH},
                                            {"loop*", PQ_OP_COND_BRANCH},
                                            {"call", PQ_OP_CALL},
                                            {"lcall", PQ_OP_CALL},
                                            {"ret*", PQ_OP_RET},
                                            {"iret*", PQ_OP_RET},
                                            {"mfence", PQ_OP_FENCE},
                                            {"lfence", PQ_OP_FENCE},
                                            {"sfence", PQ_OP_FENCE},
                                            {"prefetch*", PQ_OP_PREFETCH},
                                            {"clflush*", PQ_OP_CACHE_CONTROL},
                                            {"clwb", PQ_OP_CACHE_CONTROL},
                                            {"rdtsc*", PQ_OP_RDTSC_LIKE},
                                            {"cpuid", PQ_OP_RDTSC_LIKE},
                                            {"rdpmc", PQ_OP_RDTSC_LIKE},
                                            {"xgetbv", PQ_OP_RDTSC_LIKE},
                                            {"rdrand", PQ_OP_RNG},
                                            {"rdseed", PQ_OP_RNG},
                                            {"pause", PQ_OP_PAUSE},
                                            {"nop", PQ_OP_NOP},
                                            {"endbr*", PQ_OP_NOP},
                                            {"syscall", PQ_OP_SYSCALL},
                                            {"sysenter", PQ_OP_SYSCALL},
                                            {"int*", PQ_OP_SYSCALL},
                                            {"crc32", PQ_OP_CRYPTO},
                                            {"fxsave*", PQ_OP_OTHER},
                                            {"fxrstor*", PQ_OP_OTHER},
                                            {"femms", PQ_OP_OTHER},
                                            {"emms", PQ_OP_OTHER},
                                            {"vzero*", PQ_OP_OTHER},
                                            {"verr", PQ_OP_OTHER},
                                            {"verw", PQ_OP_OTHER},
                                            {"ldmxcsr", PQ_OP_OTHER},
                                            {"stmxcsr", PQ_OP_OTHER},
                                            {"vldmxcsr", PQ_OP_OTHER},
                                            {"vstmxcsr", PQ_OP_OTHER},
                                            {"wait", PQ_OP_OTHER},
                                            {"xsave*", PQ_OP_OTHER},
                                            {"xrstor*", PQ_OP_OTHER},
                                            {"ud2*", PQ_OP_OTHER},
                                            {"fwait", PQ_OP_OTHER},
                                            {NULL, 0}};

static const struct rule x87_rules[] = {
    {"fmul*", PQ_OP_X87_MUL},    {"fimul*", PQ_OP_X87_MUL},    {"fdiv*", PQ_OP_X87_DIV},
    {"fidiv*", PQ_OP_X87_DIV},   {"fsqrt", PQ_OP_X87_DIV},     {"fsin*", PQ_OP_X87_TRANS},
    {"fcos", PQ_OP_X87_TRANS},   {"fptan", PQ_OP_X87_TRANS},   {"fpatan", PQ_OP_X87_TRANS},
    {"f2xm1", PQ_OP_X87_TRANS},  {"fyl2x*", PQ_OP_X87_TRANS},  {"fprem*", PQ_OP_X87_TRANS},
    {"fscale", PQ_OP_X87_TRANS}, {"fxtract", PQ_OP_X87_TRANS}, {"fbld", PQ_OP_X87_TRANS},
    {"fbstp", PQ_OP_X87_TRANS},  {"f*", PQ_OP_X87_SIMPLE},     {NULL, 0}};

/* SIMD names without a leading v. Order matters. */
static const struct rule simd_rules[] = {{"aes*", PQ_OP_CRYPTO},
                                         {"sha*", PQ_OP_CRYPTO},
                                         {"pclmul*", PQ_OP_CRYPTO},
                                         {"gf2p8*", PQ_OP_CRYPTO},
                                         {"fmadd*", PQ_OP_FP_FMA_VEC},
                                         {"fmsub*", PQ_OP_FP_FMA_VEC},
                                         {"fnmadd*", PQ_OP_FP_FMA_VEC},
                                         {"fnmsub*", PQ_OP_FP_FMA_VEC},
                                         {"cvt*", PQ_OP_FP_CVT},
                                         {"movss", PQ_OP_FP_MOV_SCALAR},
                                         {"movsd", PQ_OP_FP_MOV_SCALAR},
                                         {"movsldup", PQ_OP_VEC_SHUFFLE},
                                         {"movshdup", PQ_OP_VEC_SHUFFLE},
                                         {"movddup", PQ_OP_VEC_SHUFFLE},
                                         {"movhlps", PQ_OP_VEC_SHUFFLE},
                                         {"movlhps", PQ_OP_VEC_SHUFFLE},
                                         {"movhp*", PQ_OP_VEC_SHUFFLE},
                                         {"movlp*", PQ_OP_VEC_SHUFFLE},
                                         {"movmsk*", PQ_OP_VEC_SHUFFLE},
                                         {"pmovmskb", PQ_OP_VEC_SHUFFLE},
                                         {"mov*", PQ_OP_VEC_MOV},
                                         {"lddqu", PQ_OP_VEC_MOV},
                                         {"maskmov*", PQ_OP_VEC_MOV},
                                         {"pmaskmov*", PQ_OP_VEC_MOV},
                                         {"gather*", PQ_OP_VEC_MOV},
                                         {"pgather*", PQ_OP_VEC_MOV},
                                         {"scatter*", PQ_OP_VEC_MOV},
                                         {"pscatter*", PQ_OP_VEC_MOV},
                                         {"broadcast*", PQ_OP_VEC_SHUFFLE},
                                         {"pbroadcast*", PQ_OP_VEC_SHUFFLE},
                                         {"shuf*", PQ_OP_VEC_SHUFFLE},
                                         {"pshuf*", PQ_OP_VEC_SHUFFLE},
                                         {"unpck*", PQ_OP_VEC_SHUFFLE},
                                         {"punpck*", PQ_OP_VEC_SHUFFLE},
                                         {"pack*", PQ_OP_VEC_SHUFFLE},
                                         {"perm*", PQ_OP_VEC_SHUFFLE},
                                         {"insert*", PQ_OP_VEC_SHUFFLE},
                                         {"extract*", PQ_OP_VEC_SHUFFLE},
                                         {"pinsr*", PQ_OP_VEC_SHUFFLE},
                                         {"pextr*", PQ_OP_VEC_SHUFFLE},
                                         {"blend*", PQ_OP_VEC_SHUFFLE},
                                         {"pblend*", PQ_OP_VEC_SHUFFLE},
                                         {"palignr", PQ_OP_VEC_SHUFFLE},
                                         {"align*", PQ_OP_VEC_SHUFFLE},
                                         {"pmov*", PQ_OP_VEC_SHUFFLE},
                                         {"psrldq", PQ_OP_VEC_SHUFFLE},
                                         {"pslldq", PQ_OP_VEC_SHUFFLE},
                                         {"pcompress*", PQ_OP_VEC_SHUFFLE},
                                         {"pexpand*", PQ_OP_VEC_SHUFFLE},
                                         {"compress*", PQ_OP_VEC_SHUFFLE},
                                         {"expand*", PQ_OP_VEC_SHUFFLE},
                                         {"andn*", PQ_OP_VEC_LOGIC},
                                         {"and*", PQ_OP_VEC_LOGIC},
                                         {"or*", PQ_OP_VEC_LOGIC},
                                         {"xor*", PQ_OP_VEC_LOGIC},
                                         {"pand*", PQ_OP_VEC_LOGIC},
                                         {"por*", PQ_OP_VEC_LOGIC},
                                         {"pxor*", PQ_OP_VEC_LOGIC},
                                         {"ptest*", PQ_OP_VEC_LOGIC},
                                         {"test*", PQ_OP_VEC_LOGIC},
                                         {"ptern*", PQ_OP_VEC_LOGIC},
                                         {"pmul*", PQ_OP_VEC_INT_MUL},
                                         {"pmadd*", PQ_OP_VEC_INT_MUL},
                                         {"pf*", PQ_OP_FP_VEC_ADD},
                                         {"p*", PQ_OP_VEC_INT_ALU},
                                         {"mpsadbw", PQ_OP_VEC_INT_ALU},
                                         {"dbpsadbw", PQ_OP_VEC_INT_ALU},
                                         {"zero*", PQ_OP_OTHER},
                                         {"sqrt*", PQ_OP_FP_SCALAR_SQRT},
                                         {"rsqrt*", PQ_OP_FP_VEC_MUL},
                                         {"rcp*", PQ_OP_FP_VEC_MUL},
                                         {"mul*", PQ_OP_FP_VEC_MUL},
                                         {"dpp*", PQ_OP_FP_VEC_MUL},
                                         {"div*", PQ_OP_FP_VEC_DIV},
                                         {"add*", PQ_OP_FP_VEC_ADD},
                                         {"sub*", PQ_OP_FP_VEC_ADD},
                                         {"hadd*", PQ_OP_FP_VEC_ADD},
                                         {"hsub*", PQ_OP_FP_VEC_ADD},
                                         {"min*", PQ_OP_FP_VEC_ADD},
                                         {"max*", PQ_OP_FP_VEC_ADD},
                                         {"cmp*", PQ_OP_FP_VEC_ADD},
                                         {"comi*", PQ_OP_FP_VEC_ADD},
                                         {"ucomi*", PQ_OP_FP_VEC_ADD},
                                         {"round*", PQ_OP_FP_VEC_ADD},
                                         {"rndscale*", PQ_OP_FP_VEC_ADD},
                                         {NULL, 0}};

static int look_up(const struct rule* rules, const char* name) {
  for (; rules->text; rules++) {
    size_t n = strlen(rules->text);
    if (rules->text[n - 1] == '*' ? !strncmp(rules->text, name, n - 1) : !strcmp(rules->text, name)) return rules->op;
  }
  return -1;
}

static bool is_fp_arithmetic(int op) {
  return op == PQ_OP_FP_VEC_ADD || op == PQ_OP_FP_VEC_MUL || op == PQ_OP_FP_VEC_DIV || op == PQ_OP_FP_FMA_VEC ||
         op == PQ_OP_FP_SCALAR_SQRT;
}

/* The scalar counterpart of a packed class, or the packed one of sqrt. */
static uint8_t scalar_or_packed(int op, bool scalar) {
  switch (op) {
    case PQ_OP_FP_VEC_ADD:
      return scalar ? PQ_OP_FP_SCALAR_ADD : PQ_OP_FP_VEC_ADD;
    case PQ_OP_FP_VEC_MUL:
      return scalar ? PQ_OP_FP_SCALAR_MUL : PQ_OP_FP_VEC_MUL;
    case PQ_OP_FP_VEC_DIV:
      return scalar ? PQ_OP_FP_SCALAR_DIV : PQ_OP_FP_VEC_DIV;
    case PQ_OP_FP_FMA_VEC:
      return scalar ? PQ_OP_FP_FMA_SCALAR : PQ_OP_FP_FMA_VEC;
    case PQ_OP_FP_SCALAR_SQRT:
      return scalar ? PQ_OP_FP_SCALAR_SQRT : PQ_OP_FP_VEC_DIV;
    default:
      return (uint8_t)op;
  }
}

struct pq_x86_class pq_x86_classify(const char* name) {
  struct pq_x86_class c = {.op = PQ_OP_OTHER};
  int op = look_up(integer_rules, name);
  if (op < 0 && name[0] == 'f') op = look_up(x87_rules, name);
  if (op >= 0) {
    c.op = (uint8_t)op;
    return c;
  }
  const char* bare = name[0] == 'v' ? name + 1 : name;
  op = look_up(simd_rules, bare);
  if (op < 0) return c;

  size_t n = strlen(bare);
  char type = n > 2 ? bare[n - 2] : 0, width = n > 2 ? bare[n - 1] : 0;
  bool suffixed = (type == 's' || type == 'p') && (width == 's' || width == 'd') && bare[0] != 'p';
  c.simd = op != PQ_OP_OTHER;
  bool scalar = suffixed && type == 's';
  c.op = scalar_or_packed(op, scalar);
  c.packed = !scalar && c.simd;
  c.fp = suffixed && type == 'p';
  if (is_fp_arithmetic(op)) c.fp_size = width == 's' ? 4 : 8;
  if (op == PQ_OP_FP_CVT) { /* packed where both sides are: cvtps2pd, cvtdq2ps, cvtph2ps, ... */
    bool from_packed = strstr(bare, "p") || strstr(bare, "dq");
    c.packed = c.fp = from_packed;
  }
  if (c.op == PQ_OP_CRYPTO) c.fp = false;
  if (!strncmp(bare, "pcmpestr", 8) || !strncmp(bare, "pcmpistr", 8)) c.slow = 10;
  if (!strncmp(bare, "dpp", 3)) c.slow = 12;
  return c;
}
