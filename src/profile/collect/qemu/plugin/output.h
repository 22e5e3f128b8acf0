/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFCAST_QEMU_OUTPUT_H
#define PERFCAST_QEMU_OUTPUT_H

#include "run.h"

/* How a process, or the program in it, ended. */
struct pq_end {
  enum { PQ_END_EXIT, PQ_END_UNSEEN, PQ_END_FOLLOWED } exec; /* by an exit, or an exec of which kind */
  const char *exec_path, *exec_why;                          /* may be NULL */
  int signal;                                                /* that is about to kill it; 0: none */
};

/* Writes prefix.<pid>.<start>, whole or not at all; again: in its place. */
void pq_write(const struct pq_run* run, const struct pq_end* end);

#endif
