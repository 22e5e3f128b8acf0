/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFCAST_QEMU_OUTPUT_H
#define PERFCAST_QEMU_OUTPUT_H

#include "vcpu.h"

struct pq_run {
  enum pq_arch arch;
  bool full;
  const char* prefix;
  unsigned n_vcpus;   /* slots of pq_vcpus in use */
  uint64_t threads;   /* guest threads ever started */
  uint64_t untracked; /* blocks and vCPUs beyond what the tables hold */
};

/* Writes prefix.<pid>, whole or not at all. exec_path: of the program that is
 * about to replace this one, "" where unknown, NULL at a normal end. */
void pq_write(const struct pq_run* run, const char* exec_path);

#endif
