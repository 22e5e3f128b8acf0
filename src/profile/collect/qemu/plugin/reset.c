/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "reset.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_ENDING = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static bool asked, closing, lost; /* lost: asked for before a fork by a thread that the child doesn't have */
static pid_t ending[MOST_ENDING];
static unsigned n_ending;
static __thread bool asks;
static __thread bool keeps; /* of the thread that drops the callbacks, from dropping the code until they are gone */

QEMU_PLUGIN_EXPORT void g_free(void* memory) {
  static void (*next)(void*);
  if (!memory || keeps) return;
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "g_free");
  next(memory);
}

static void on_flush(qemu_plugin_id_t id) {
  (void)id;
  keeps = asks && pq_reset_bears_threads(); /* code is dropped for other reasons too */
}

void pq_reset_register(qemu_plugin_id_t id) { qemu_plugin_register_flush_cb(id, on_flush); }

/* Gone, or a zombie: the first thread is one until the last has ended. */
static bool has_ended(pid_t thread) {
  char text[256];
  snprintf(text, sizeof text, "/proc/self/task/%d/stat", thread);
  const int file = open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  const ssize_t n = read(file, text, sizeof text - 1);
  close(file);
  if (n <= 0) return true;
  text[n] = 0;
  const char* name_end = strrchr(text, ')');
  return name_end && (!strncmp(name_end, ") Z", 3) || !strncmp(name_end, ") X", 3));
}

static void forget_ended(void) {
  unsigned kept = 0;
  for (unsigned i = 0; i < n_ending; i++)
    if (!has_ended(ending[i])) ending[kept++] = ending[i];
  n_ending = kept;
}

bool pq_reset(qemu_plugin_id_t id, qemu_plugin_simple_cb_t callback) {
  pthread_mutex_lock(&lock);
  forget_ended();
  const bool now = !n_ending && !closing && !lost;
  if (now) asked = asks = true;
  pthread_mutex_unlock(&lock);
  if (now) qemu_plugin_reset(id, callback);
  return now;
}

void pq_reset_done(void) {
  pthread_mutex_lock(&lock);
  keeps = asks = asked = false;
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

void pq_reset_process_ends(void) {
  pthread_mutex_lock(&lock);
  while (asked) pthread_cond_wait(&done, &lock);
  closing = true;
  pthread_mutex_unlock(&lock);
}

void pq_reset_forked(void) {
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&done, NULL);
  if (asked) lost = true;
  asked = asks = keeps = closing = false;
  n_ending = 0;
}

bool pq_reset_bears_threads(void) {
  static int first = -1;
  if (first < 0) first = dlsym(RTLD_DEFAULT, "g_free") == (void*)g_free;
  return first;
}
