/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is counted per vCPU (a guest thread). Each vCPU writes only its own. */
#ifndef PERFCAST_QEMU_VCPU_H
#define PERFCAST_QEMU_VCPU_H

#include "block.h"
#include "branch_sim.h"
#include "memory_sim.h"
#include "syscalls.h"

enum { PQ_MAX_VCPUS = 16384 };

struct pq_vcpu {
  struct pq_block* previous;
  struct pq_count* counts[PQ_MAX_CHUNKS]; /* vCPU 0 uses the blocks' own */
  struct pq_syscall_counts syscalls;
  struct pq_predictors* predictors; /* NULL in mode mix */
  struct pq_mem mem;
};

extern struct pq_vcpu* pq_vcpus[PQ_MAX_VCPUS];

#endif
