/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code in several places: code NAME N [LIBRARY...]. Functions that are called N times, once, and never. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void called(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void never_called(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((destructor)) void at_the_end(void) { __asm__ volatile("" ::: "memory"); }

/* One library after the other, each where the one before it was, if the kernel puts it there. */
static void libraries(long n, int count, char** paths) {
#ifndef WITHOUT_LIBRARIES
  for (int i = 0; i < count; i++) {
    void* library = dlopen(paths[i], RTLD_NOW);
    if (!library) exit(3);
    void (*work)(void);
    *(void**)&work = dlsym(library, "library_work");
    for (long k = 0; work && k < n + i; k++) work();
    dlclose(library);
  }
#else
  (void)n, (void)count, (void)paths;
#endif
}

/* Code that the program makes itself: returns at once. */
static void made(long n) {
#if defined(__x86_64__)
  static const unsigned char code[] = {0x90, 0xc3};
#else
  static const unsigned char code[] = {0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6};
#endif
  unsigned char* at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) exit(4);
  memcpy(at, code, sizeof code);
  __builtin___clear_cache((char*)at, (char*)at + sizeof code);
  mprotect(at, 4096, PROT_READ | PROT_EXEC);
  void (*run)(void);
  *(void**)&run = at;
  for (long k = 0; k < n; k++) run();
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const long n = atol(argv[2]);
  if (!strcmp(argv[1], "calls")) {
    for (long k = 0; k < n; k++) called();
  } else if (!strcmp(argv[1], "fork")) {
    for (long k = 0; k < n; k++) called();
    if (fork() == 0) {
      for (long k = 0; k < 2 * n; k++) called();
      _exit(0);
    }
    wait(NULL);
  } else if (!strcmp(argv[1], "libraries")) {
    libraries(n, argc - 3, argv + 3);
  } else if (!strcmp(argv[1], "made")) {
    made(n);
  } else if (n < 0) {
    never_called();
  } else {
    return 2;
  }
  return 0;
}
