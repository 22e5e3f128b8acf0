/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads, forks, execs and ways to end: processes NAME N. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;
static long n;

static void work(void) {
  for (long i = 0; i < n; i++) __asm__ volatile("" ::: "memory");
}

static void* thread(void* unused) {
  (void)unused;
  work();
  return NULL;
}

static void* ends_all(void* unused) {
  (void)unused;
  work();
  syscall(SYS_exit_group, 0);
  return NULL;
}

static void threads(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, thread, NULL);
  for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
}

static void forks(void) {
  work();
  for (int i = 0; i < 3; i++) {
    if (fork() == 0) {
      work();
      _exit(0);
    }
  }
  while (wait(NULL) > 0) continue;
}

/* The first thread ends, another goes on. */
static void leader_ends(void) {
  pthread_t t;
  pthread_create(&t, NULL, thread, NULL);
  pthread_exit(NULL);
}

/* A process that had threads once forks. */
static void forks_late(void) {
  pthread_t t;
  pthread_create(&t, NULL, thread, NULL);
  pthread_join(t, NULL);
  if (fork() == 0) {
    n *= 10;
    work();
    _exit(0);
  }
  wait(NULL);
}

static struct { volatile long words[8]; } line __attribute__((aligned(64)));

/* Gives way each time, so that threads take turns on one CPU, too. */
static void* writes(void* word) {
  for (long i = 0; i < n; i++) {
    ++*(volatile long*)word;
    sched_yield();
  }
  return NULL;
}

/* Two threads write their own words of a line, or one word. */
static void share(int second) {
  pthread_t t;
  pthread_create(&t, NULL, writes, (void*)&line.words[0]);
  writes((void*)&line.words[second]);
  pthread_join(t, NULL);
}

/* As posix_spawn does in the child, for longer. */
static void defaults(void) {
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
}

static void spawn(void) {
  char* arguments[] = {"true", NULL};
  pid_t child;
  if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ) == 0) waitpid(child, NULL, 0);
}

static void spawn_self(char* count) {
  char* arguments[] = {"processes", "work", count, NULL};
  pid_t child;
  if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0) waitpid(child, NULL, 0);
}

static void calls(void) {
  char buffer[100];
  FILE* f = fopen("/dev/zero", "r");
  struct timespec t = {0, 1000};
  for (long i = 0; i < n; i++) {
    if (read(fileno(f), buffer, sizeof buffer) != sizeof buffer) abort();
    nanosleep(&t, NULL);
  }
  fclose(f);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  n = atol(argv[2]);
  const char* name = argv[1];
  if (!strcmp(name, "threads")) {
    threads();
  } else if (!strcmp(name, "forks")) {
    forks();
  } else if (!strcmp(name, "leader-ends")) {
    leader_ends();
  } else if (!strcmp(name, "forks-late")) {
    forks_late();
  } else if (!strcmp(name, "spawn")) {
    spawn();
  } else if (!strcmp(name, "spawn-self")) {
    spawn_self(argv[2]);
  } else if (!strcmp(name, "work")) {
    work();
  } else if (!strcmp(name, "defaults")) {
    work();
    defaults();
    work();
  } else if (!strcmp(name, "exec")) {
    work();
    execl("/bin/true", "true", (char*)NULL);
  } else if (!strcmp(name, "failed-exec")) {
    execl("/nonexistent/program", "program", (char*)NULL);
    work();
  } else if (!strcmp(name, "exit-in-thread")) {
    pthread_t t;
    pthread_create(&t, NULL, ends_all, NULL);
    for (;;) pause();
  } else if (!strcmp(name, "abort")) {
    work();
    abort();
  } else if (!strcmp(name, "own-words")) {
    share(2);
  } else if (!strcmp(name, "one-word")) {
    share(0);
  } else if (!strcmp(name, "calls")) {
    calls();
  } else {
    return 2;
  }
  return 0;
}
