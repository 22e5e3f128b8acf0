/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Textbook latencies: a fixed yardstick, no particular processor. */
#include "latency.h"

struct cost {
  uint8_t latency, kind;
};

static const struct cost costs[PQ_N_CLASSES] = {
    [PQ_OP_INT_ALU] = {1, PQ_K_INT},
    [PQ_OP_INT_MUL] = {3, PQ_K_MUL},
    [PQ_OP_INT_DIV] = {20, PQ_K_DIV},
    [PQ_OP_LOGIC] = {1, PQ_K_INT},
    [PQ_OP_SHIFT] = {1, PQ_K_INT},
    [PQ_OP_MOV] = {0, PQ_K_INT},
    [PQ_OP_LEA] = {1, PQ_K_INT},
    [PQ_OP_SELECT] = {1, PQ_K_INT},
    [PQ_OP_PUSH_POP] = {0, PQ_K_INT},
    [PQ_OP_COND_BRANCH] = {1, PQ_K_INT},
    [PQ_OP_JUMP] = {0, PQ_K_INT},
    [PQ_OP_IND_BRANCH] = {1, PQ_K_INT},
    [PQ_OP_CALL] = {0, PQ_K_INT},
    [PQ_OP_IND_CALL] = {1, PQ_K_INT},
    [PQ_OP_RET] = {1, PQ_K_INT},
    [PQ_OP_FP_SCALAR_ADD] = {4, PQ_K_FP},
    [PQ_OP_FP_SCALAR_MUL] = {4, PQ_K_FP},
    [PQ_OP_FP_SCALAR_DIV] = {13, PQ_K_DIV},
    [PQ_OP_FP_SCALAR_SQRT] = {18, PQ_K_DIV},
    [PQ_OP_FP_FMA_SCALAR] = {4, PQ_K_FP},
    [PQ_OP_FP_CVT] = {5, PQ_K_FP},
    [PQ_OP_FP_MOV_SCALAR] = {1, PQ_K_FP},
    [PQ_OP_FP_VEC_ADD] = {4, PQ_K_FP},
    [PQ_OP_FP_VEC_MUL] = {4, PQ_K_FP},
    [PQ_OP_FP_VEC_DIV] = {13, PQ_K_DIV},
    [PQ_OP_FP_FMA_VEC] = {4, PQ_K_FP},
    [PQ_OP_FP_VEC_OTHER] = {4, PQ_K_FP},
    [PQ_OP_VEC_INT_ALU] = {1, PQ_K_INT},
    [PQ_OP_VEC_INT_MUL] = {5, PQ_K_MUL},
    [PQ_OP_VEC_LOGIC] = {1, PQ_K_INT},
    [PQ_OP_VEC_SHUFFLE] = {1, PQ_K_INT},
    [PQ_OP_VEC_MOV] = {1, PQ_K_INT},
    [PQ_OP_X87_SIMPLE] = {3, PQ_K_FP},
    [PQ_OP_X87_MUL] = {5, PQ_K_FP},
    [PQ_OP_X87_DIV] = {20, PQ_K_DIV},
    [PQ_OP_X87_TRANS] = {80, PQ_K_OTHER},
    [PQ_OP_ATOMIC] = {20, PQ_K_OTHER},
    [PQ_OP_FENCE] = {20, PQ_K_OTHER},
    [PQ_OP_STRING] = {1, PQ_K_OTHER},
    [PQ_OP_CRYPTO] = {4, PQ_K_OTHER},
    [PQ_OP_PREFETCH] = {0, PQ_K_INT},
    [PQ_OP_CACHE_CONTROL] = {0, PQ_K_OTHER},
    [PQ_OP_RDTSC_LIKE] = {25, PQ_K_OTHER},
    [PQ_OP_RNG] = {200, PQ_K_OTHER},
    [PQ_OP_PAUSE] = {40, PQ_K_OTHER},
    [PQ_OP_NOP] = {0, PQ_K_INT},
    [PQ_OP_SYSCALL] = {0, PQ_K_OTHER},
    [PQ_OP_OTHER] = {1, PQ_K_OTHER},
};

void pq_set_latency(struct pq_insn* insn) {
  insn->latency = costs[insn->op].latency;
  insn->kind = costs[insn->op].kind;
}
