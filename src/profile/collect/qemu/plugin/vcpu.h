/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is counted per vCPU (a guest thread). Each vCPU writes only its own. */
#ifndef PERFCAST_QEMU_VCPU_H
#define PERFCAST_QEMU_VCPU_H

#include "block.h"
#include "branch_sim.h"
#include "memory_sim.h"
#include "syscalls.h"

enum { PQ_MAX_VCPUS = 16384, PQ_REPLICATES = 8 };

/* What passed by while caches and predictors were simulated. */
struct pq_passed {
  uint64_t instructions, accesses, lines, conditional;
};

/* What the simulation counted, and how much it saw. uint64_t throughout. */
struct pq_tally {
  struct pq_mem_counts mem;
  struct pq_branch_counts branches;
  struct pq_passed passed;
};

enum { PQ_TALLY_FIELDS = sizeof(struct pq_tally) / sizeof(uint64_t) };
#define PQ_TALLY_FIELD(member) (offsetof(struct pq_tally, member) / sizeof(uint64_t))

struct pq_vcpu {
  struct pq_block* previous;
  struct pq_passed passed;
  uint64_t due;                           /* instructions passed at which the phase ends */
  uint64_t plain, look_due;               /* instructions in plain phases with several threads; when to look again */
  uint64_t trace_due, trace_from;         /* and at which a piece of a trace begins; where its interval begins */
  struct pq_count* counts[PQ_MAX_CHUNKS]; /* vCPU 0 uses the blocks' own */
  struct pq_syscall_counts syscalls;
  uint64_t executable_bytes;        /* of a file, that the present system call maps to be executed */
  struct pq_predictors* predictors; /* NULL in mode mix */
  struct pq_mem mem;
  struct pq_mem_counts strings; /* of a sampled run: by repeated string instructions, in all phases */
  uint64_t string_line[2];      /* that the present one read and wrote last; ~0: none yet */
  /* by phase, see sampling.h; what was counted since `mark` is of the present one */
  struct pq_tally first, mark;
  struct pq_tally phases_mark; /* likewise, since phases.c last looked */
  /* weighted; window i of the process in replicate i % PQ_REPLICATES: how much they differ says how far their sum is
   * off */
  double windows[PQ_REPLICATES][PQ_TALLY_FIELDS];
};

extern struct pq_vcpu* pq_vcpus[PQ_MAX_VCPUS];

#endif
