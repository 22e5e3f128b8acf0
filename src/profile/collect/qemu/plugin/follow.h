/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an exec of the guest becomes. QEMU's user mode hands it to the host's
 * kernel, and the next program would run unseen; here it becomes a start of the
 * emulator with the same plugin, in the same process. */
#ifndef PERFCAST_QEMU_FOLLOW_H
#define PERFCAST_QEMU_FOLLOW_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "insn.h"

enum pq_exec {
  PQ_EXEC_FAILS,   /* no such program: the call returns, nothing ends here */
  PQ_EXEC_UNSEEN,  /* the kernel may start it, we can't follow */
  PQ_EXEC_FOLLOWED /* starts under the emulator */
};

/* An exec call with everything that it passes on, copied from the guest. */
struct pq_exec_call {
  char path[PATH_MAX];    /* as given, or /proc/self/fd/N */
  char program[PATH_MAX]; /* the ELF file that a script's first line leads to */
  char** arguments;       /* of `program`, NULL at the end */
  char** environment;
  enum pq_arch arch;      /* of `program` */
  const char* why_unseen; /* one word, NULL where followed */
  int group, unit;        /* of the plan, and which of its members; -1: none */
};

/* `sysroot`: where the other architecture's libraries are, "" for none. `group`, `unit`: that this process is of, -1:
 * none. */
bool pq_follow_open(enum pq_arch arch, const char* plugin_options, const char* sysroot, int group, int unit);

/* The guest's program and arguments, as this emulator was started for them. */
const char* pq_own_program(void);
const char* pq_own_command(void);

/* Reads the call and says what will become of it; nothing is followed where `follow` is not set. */
enum pq_exec pq_exec_inspect(int64_t number, const uint64_t args[6], struct pq_exec_call* call, bool follow);
/* Becomes the emulator of that program; returns only where that fails. */
void pq_exec_follow(struct pq_exec_call* call);
void pq_exec_free(struct pq_exec_call* call);

#endif
