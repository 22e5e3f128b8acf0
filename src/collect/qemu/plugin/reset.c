/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "reset.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_ENDING = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static bool asked;
static pid_t ending[MOST_ENDING];
static unsigned n_ending;
static __thread bool keeps; /* of the thread that drops the callbacks, from dropping the code until they are gone */

QEMU_PLUGIN_EXPORT void g_free(void* memory) {
  static void (*next)(void*);
  if (!memory || keeps) return;
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "g_free");
  next(memory);
}

static void on_flush(qemu_plugin_id_t id) {
  (void)id;
  keeps = asked && pq_reset_bears_threads(); /* code is dropped for other reasons too */
}

void pq_reset_register(qemu_plugin_id_t id) { qemu_plugin_register_flush_cb(id, on_flush); }

/* Threads that end are in the list until the kernel doesn't know them any more. */
static void forget_ended(void) {
  unsigned kept = 0;
  for (unsigned i = 0; i < n_ending; i++)
    if (!syscall(SYS_tgkill, getpid(), ending[i], 0)) ending[kept++] = ending[i];
  n_ending = kept;
}

bool pq_reset(qemu_plugin_id_t id, qemu_plugin_simple_cb_t callback) {
  pthread_mutex_lock(&lock);
  forget_ended();
  const bool now = !n_ending;
  if (now) asked = true;
  pthread_mutex_unlock(&lock);
  if (now) qemu_plugin_reset(id, callback);
  return now;
}

void pq_reset_done(void) {
  pthread_mutex_lock(&lock);
  keeps = asked = false;
  pthread_cond_broadcast(&done);
  pthread_mutex_unlock(&lock);
}

void pq_reset_thread_ends(void) {
  pthread_mutex_lock(&lock);
  while (asked) pthread_cond_wait(&done, &lock);
  forget_ended();
  if (n_ending < MOST_ENDING) ending[n_ending++] = (pid_t)syscall(SYS_gettid);
  pthread_mutex_unlock(&lock);
}

void pq_reset_forked(void) {
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&done, NULL);
  n_ending = 0;
}

bool pq_reset_bears_threads(void) {
  static int first = -1;
  if (first < 0) first = dlsym(RTLD_DEFAULT, "g_free") == (void*)g_free;
  return first;
}
