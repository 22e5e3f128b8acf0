/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFCAST_QEMU_OUTPUT_H
#define PERFCAST_QEMU_OUTPUT_H

#include "vcpu.h"

struct pq_run {
  enum pq_arch arch;
  bool full;
  bool follow; /* executed programs run under the emulator too */
  const char* prefix;
  unsigned n_vcpus;    /* slots of pq_vcpus in use */
  uint64_t threads;    /* guest threads ever started */
  uint64_t untracked;  /* blocks and vCPUs beyond what the tables hold */
  uint64_t started_ns; /* monotonic; with the process number a name that is used once */
  int group, unit;     /* of the follow plan, -1: none */
  bool forked;         /* from a process that was counted itself */
};

/* How often a block ran: further iterations of a repeated string instruction are no executions. */
struct pq_executions {
  uint64_t executions, iterations;
};
struct pq_executions pq_executions_of(const struct pq_run* run, const struct pq_block* b);

/* How a process, or the program in it, ended. */
struct pq_end {
  enum { PQ_END_EXIT, PQ_END_UNSEEN, PQ_END_FOLLOWED } exec; /* by an exit, or an exec of which kind */
  const char *exec_path, *exec_why;                          /* may be NULL */
  int signal;                                                /* that is about to kill it; 0: none */
};

/* Writes prefix.<pid>.<start>, whole or not at all; again: in its place. */
void pq_write(const struct pq_run* run, const struct pq_end* end);

#endif
