/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that several threads touch while at least one of them writes: who writes and reads which bytes of them, from
 * where, and how often they would travel from one core's cache to another's. Seen while caches are simulated, from
 * the second thread on. */
#ifndef PERFCAST_QEMU_SHARING_H
#define PERFCAST_QEMU_SHARING_H

#include "qemu_api.h"
#include "vcpu.h"

extern bool pq_sharing_on;

/* The block's accesses call back. To be called where it is translated, after all else that watches memory. */
void pq_sharing_watch(struct qemu_plugin_tb* tb, const struct pq_block* b);
/* A forked child starts from nothing. */
void pq_sharing_forked(void);
/* Of the lines that at least two threads wrote, those with most accesses of several; README.md has the format. False:
 * not written. */
bool pq_sharing_write(const char* path);

#endif
