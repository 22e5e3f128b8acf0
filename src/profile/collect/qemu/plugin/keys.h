/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of everything that is known statically per block and multiplied by how
 * often the block ran. README.md documents each key. */
#ifndef PERFCAST_QEMU_KEYS_H
#define PERFCAST_QEMU_KEYS_H

/* Instruction classes: mutually exclusive, written as op_<name>. */
// clang-format off
#define PQ_CLASSES(X)                                                                                                \
  X(INT_ALU, "int_alu")                                                                                              \
  X(INT_MUL, "int_mul") X(INT_DIV, "int_div") X(LOGIC, "logic") X(SHIFT, "shift") X(MOV, "mov") X(LEA, "lea")        \
      X(SELECT, "select") X(PUSH_POP, "push_pop") X(COND_BRANCH, "cond_branch") X(JUMP, "jump")                      \
          X(IND_BRANCH, "ind_branch") X(CALL, "call") X(IND_CALL, "ind_call") X(RET, "ret")                          \
              X(FP_SCALAR_ADD, "fp_scalar_add") X(FP_SCALAR_MUL, "fp_scalar_mul") X(FP_SCALAR_DIV, "fp_scalar_div")  \
                  X(FP_SCALAR_SQRT, "fp_scalar_sqrt") X(FP_FMA_SCALAR, "fp_fma_scalar") X(FP_CVT, "fp_cvt")          \
                      X(FP_MOV_SCALAR, "fp_mov_scalar") X(FP_VEC_ADD, "fp_vec_add") X(FP_VEC_MUL, "fp_vec_mul")      \
                          X(FP_VEC_DIV, "fp_vec_div") X(FP_FMA_VEC, "fp_fma_vec") X(FP_VEC_OTHER, "fp_vec_other")    \
                              X(VEC_INT_ALU, "vec_int_alu") X(VEC_INT_MUL, "vec_int_mul") X(VEC_LOGIC, "vec_logic")  \
                                  X(VEC_SHUFFLE, "vec_shuffle") X(VEC_MOV, "vec_mov") X(X87_SIMPLE, "x87_simple")    \
                                      X(X87_MUL, "x87_mul") X(X87_DIV, "x87_div") X(X87_TRANS, "x87_transcendental") \
                                          X(ATOMIC, "atomic") X(FENCE, "fence") X(STRING, "string")                  \
                                              X(CRYPTO, "crypto") X(PREFETCH, "prefetch")                            \
                                                  X(CACHE_CONTROL, "cache_control") X(RDTSC_LIKE, "rdtsc_like")      \
                                                      X(RNG, "rng") X(PAUSE, "pause") X(NOP, "nop")                  \
                                                          X(SYSCALL, "syscall") X(OTHER, "other")
// clang-format on

/* Other sums over executed instructions, written under their own name. */
// clang-format off
#define PQ_SUMS(X)                                                                                                    \
  X(VEC_FP_64, "vec_fp_64")                                                                                           \
  X(VEC_FP_128, "vec_fp_128") X(VEC_FP_256, "vec_fp_256") X(VEC_FP_512, "vec_fp_512") X(VEC_INT_64, "vec_int_64")     \
      X(VEC_INT_128, "vec_int_128") X(VEC_INT_256, "vec_int_256") X(VEC_INT_512, "vec_int_512")                       \
          X(SVE, "sve_instructions") X(INT_DIV_32, "int_div_32") X(INT_DIV_64, "int_div_64")                          \
              X(INT_MUL_WIDE, "int_mul_wide") X(FP_SINGLE, "fp_single") X(FP_DOUBLE, "fp_double")                     \
                  X(FLOPS_SINGLE, "flops_single") X(FLOPS_DOUBLE, "flops_double") X(UNDECODED, "undecoded")           \
                      X(ZERO_IDIOMS, "zero_idioms") X(LOADS, "loads") X(LOADS_1, "loads_1") X(LOADS_2, "loads_2") X(  \
                          LOADS_4, "loads_4") X(LOADS_8, "loads_8") X(LOADS_16, "loads_16") X(LOADS_32, "loads_32")   \
                          X(LOADS_64, "loads_64") X(STORES, "stores") X(STORES_1, "stores_1") X(STORES_2, "stores_2") \
                              X(STORES_4, "stores_4") X(STORES_8, "stores_8") X(STORES_16, "stores_16")               \
                                  X(STORES_32, "stores_32") X(STORES_64, "stores_64") X(LOAD_BYTES, "bytes_loaded")   \
                                      X(STORE_BYTES, "bytes_stored") X(LOAD_INSTRUCTIONS, "load_instructions") X(     \
                                          STORE_INSTRUCTIONS, "store_instructions") X(INDEP, "indep_instructions")    \
                                          X(CRIT, "crit_cycles") X(CRIT_INT, "crit_int") X(CRIT_MUL, "crit_mul")      \
                                              X(CRIT_DIV, "crit_div") X(CRIT_FP, "crit_fp") X(CRIT_LOAD, "crit_load") \
                                                  X(CRIT_OTHER, "crit_other") X(CRIT_LOOP, "crit_loop_cycles")        \
                                                      X(DEP_LOADS, "dependent_loads") X(ILINES, "icache_line_fetches")
// clang-format on

/* Sums taken only when a block directly follows itself. */
// clang-format off
#define PQ_SELF_SUMS(X)                                                                                               \
  X(SELF_COUNT, "self_loop_execs")                                                                                    \
  X(SELF_INSNS, "self_loop_instructions") X(SELF_PATH, "crit_self_block_cycles") X(SELF_INC, "crit_self_loop_cycles") \
      X(SELF_INT, "crit_self_int") X(SELF_MUL, "crit_self_mul") X(SELF_DIV, "crit_self_div")                          \
          X(SELF_FP, "crit_self_fp") X(SELF_LOAD, "crit_self_load") X(SELF_OTHER, "crit_self_other")                  \
              X(SELF_DEP_LOADS, "dependent_loads_self_loop")
// clang-format on

#define PQ_ENUM_CLASS(id, name) PQ_OP_##id,
enum { PQ_CLASSES(PQ_ENUM_CLASS) PQ_N_CLASSES };
#define PQ_ENUM_SUM(id, name) PQ_S_##id,
enum { PQ_S_FIRST_ = PQ_N_CLASSES - 1, PQ_SUMS(PQ_ENUM_SUM) PQ_N_STATS };
enum { PQ_SUMS_FIRST = PQ_N_CLASSES };
#define PQ_ENUM_SELF(id, name) PQ_L_##id,
enum { PQ_SELF_SUMS(PQ_ENUM_SELF) PQ_N_SELF };

#endif
