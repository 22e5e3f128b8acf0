/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls by kind. */
#ifndef PERFCAST_QEMU_SYSCALLS_H
#define PERFCAST_QEMU_SYSCALLS_H

#include <stdint.h>

#include "insn.h"

// clang-format off
#define PQ_SYSCALL_KINDS(X)                                                                                           \
  X(FILE, "sys_file")                                                                                                 \
  X(MEMORY, "sys_memory") X(PROCESS, "sys_process") X(SIGNAL, "sys_signal") X(TIME, "sys_time") X(SCHED, "sys_sched") \
      X(FUTEX, "sys_futex") X(PIPE, "sys_pipe") X(POLL, "sys_poll") X(NET, "sys_net") X(IPC, "sys_ipc")               \
          X(OTHER, "sys_other")
// clang-format on

#define PQ_ENUM_SYS(id, name) PQ_SYS_##id,
enum { PQ_SYSCALL_KINDS(PQ_ENUM_SYS) PQ_N_SYS };

/* What else a call is, beside its kind. */
enum {
  PQ_SYSF_READ = 1,   /* returns bytes read */
  PQ_SYSF_WRITE = 2,  /* returns bytes written */
  PQ_SYSF_OPEN = 4,   /* returns a new descriptor of a file */
  PQ_SYSF_SLEEP = 8,  /* sleeps for a time */
  PQ_SYSF_TIMER = 16, /* arms a timer */
  PQ_SYSF_WAIT = 32,  /* poll, select, epoll: sleeps where given a timeout */
  PQ_SYSF_YIELD = 64,
  PQ_SYSF_FORK = 128,
  PQ_SYSF_EXEC = 256
};

struct pq_syscall_counts {
  uint64_t total, failed, kind[PQ_N_SYS];
  uint64_t bytes_read, bytes_written, files_opened;
  uint64_t sleeps, timers, waits, yields, forks, execs;
  uint64_t mapped_bytes; /* ever, by mmap and brk: memory that is given back and taken again is new again */
  uint64_t asked_bytes, end_of_heap;
};

void pq_syscalls_open(enum pq_arch arch);
void pq_syscall_enter(struct pq_syscall_counts* c, int64_t number, const uint64_t args[6]);
void pq_syscall_return(struct pq_syscall_counts* c, int64_t number, int64_t result);
bool pq_syscall_is_exec(int64_t number);
bool pq_syscall_ends_thread(int64_t number);
bool pq_syscall_ends_process(int64_t number);
bool pq_syscall_is_exec_at(int64_t number); /* with a folder's descriptor before the path */

#endif
