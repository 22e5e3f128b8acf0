/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has everything translated again, also while other threads run. */
#ifndef PERFCAST_QEMU_RESET_H
#define PERFCAST_QEMU_RESET_H

#include <stdbool.h>

#include "qemu_api.h"

/* At every registration of callbacks. */
void pq_reset_register(qemu_plugin_id_t id);
/* `callback`: in it, all callbacks are gone and no translated code runs. False: not now, for a thread or
 * the process is ending. */
bool pq_reset(qemu_plugin_id_t id, qemu_plugin_simple_cb_t callback);
/* In that callback, last, when others are registered again. */
void pq_reset_done(void);
/* Two faults of QEMU 7.2 made it crash about once in 300 resets of a program of several threads:
 * - It frees callbacks while threads that made a system call may be about to call them. Loaded before glib (LD_PRELOAD,
 *   see follow.c) this keeps them, some 500 bytes a reset.
 * - It clears tables of a thread that has just freed them. Resets and ends of threads wait for each other.
 * False: this was loaded otherwise, and a reset is safe with one thread only. */
bool pq_reset_bears_threads(void);
/* The thread, or all of the process, is about to end by itself; waits while a reset is under way. After the latter
 * there is none any more. */
void pq_reset_thread_ends(void);
void pq_reset_process_ends(void);
void pq_reset_forked(void);

#endif
