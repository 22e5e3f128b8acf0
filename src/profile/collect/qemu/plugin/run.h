/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The run of a guest process, and how often its blocks ran in it. */
#ifndef PERFCAST_QEMU_RUN_H
#define PERFCAST_QEMU_RUN_H

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

/* All vCPUs together, plain phases included; `again` of those is an estimate: as often as elsewhere. */
struct pq_count pq_runs_of(const struct pq_run* run, const struct pq_block* b);

/* How often a block ran: further iterations of a repeated string instruction are no executions. */
struct pq_executions {
  uint64_t executions, iterations;
};
struct pq_executions pq_executions_of(const struct pq_run* run, const struct pq_block* b);

#endif
