/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which code ran: the files that it lies in, and of each block how often it ran, before the program's own first
 * instruction (the dynamic linker and the libraries' constructors), and since the program's end began (destructors).
 * README.md has the format. */
#ifndef PERFCAST_QEMU_EXECUTED_H
#define PERFCAST_QEMU_EXECUTED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "run.h"

struct pq_executed {
  bool on;    /* code is looked up */
  bool file;  /* and goes to a file at the end */
  bool files; /* the counts say how much of what ran lies in which file */
};
extern struct pq_executed pq_executed;

/* `program`: path of the guest's program, "" where it is unknown: then its start and end are not told apart. */
void pq_executed_open(const char* program);

/* `b` is about to be translated; its code lies at `host` in the emulator's memory. Call under the translation lock. */
void pq_executed_translate(const struct pq_run* run, struct pq_block* b, const void* host);
/* A system call of the guest begins or has returned: some of them change what lies at an address. */
void pq_executed_call(const struct pq_run* run, struct pq_vcpu* v, int64_t number, const uint64_t args[6]);
void pq_executed_return(struct pq_vcpu* v, int64_t result);
/* The file that a translated block lies in and where; NULL or "" where it lies in none. */
const char* pq_executed_place(const struct pq_block* b, uint64_t* offset);
/* In the child all counts are zero. */
void pq_executed_forked(void);

/* Lines "file ..." of the counts: README.md has them. */
void pq_executed_put_files(FILE* f, const struct pq_run* run);
/* False: not written. */
bool pq_executed_write(const char* path, const struct pq_run* run);

#endif
