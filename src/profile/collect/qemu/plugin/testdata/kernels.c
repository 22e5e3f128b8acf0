/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small loops with known behaviour: kernels NAME N [BYTES]. What start-up costs
 * drops out in the difference of two runs. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile uint64_t sink;
static volatile double real_sink;
static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

static void loop(long n) {
  for (long i = 0; i < n; i++) __asm__ volatile("" ::: "memory");
}

static void ints(long n) {
  uint64_t x = sink + 3, d = sink + 7;
  for (long i = 0; i < n; i++) {
    x *= d;
    x += x / (d + (uint64_t)i);
  }
  sink = x;
}

static void doubles(long n) {
  volatile double start = 1.5;
  double x = start, y = start;
  for (long i = 0; i < n; i++) {
    x = x + y;
    x = x * 0.75;
    x = y / x;
    x = sqrt(x);
    __asm__ volatile("" : "+r"(i));
  }
  real_sink = x;
}

typedef float vec4 __attribute__((vector_size(16)));
static vec4 vec_sink;
static void vectors(long n) {
  vec4 x = vec_sink, y = {1, 2, 3, 4};
  for (long i = 0; i < n; i++) {
    x = x + y;
    __asm__ volatile("" : "+r"(i));
  }
  vec_sink = x;
}

/* One cycle through all lines of the area in random order. */
static void chase(long n, size_t bytes) {
  size_t lines = bytes / 64;
  char* area = aligned_alloc(4096, bytes);
  size_t* order = malloc(lines * sizeof *order);
  for (size_t i = 0; i < lines; i++) order[i] = i;
  for (size_t i = lines - 1; i > 0; i--) {
    size_t j = next_random() % i, t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
  for (size_t i = 0; i < lines; i++) *(void**)(area + 64 * order[i]) = area + 64 * order[(i + 1) % lines];
  void** p = (void**)area;
  for (long i = 0; i < n; i++) p = *p;
  sink = (uintptr_t)p;
}

static void stream(long n, size_t bytes) {
  volatile uint64_t* area = aligned_alloc(4096, bytes);
  memset((void*)area, 1, bytes);
  uint64_t sum = 0;
  for (long i = 0; i < n; i++)
    for (size_t k = 0; k < bytes / 8; k++) sum += area[k];
  sink = sum;
}

static void branches(long n, int kind) {
  uint64_t x = 0;
  for (long i = 0; i < n; i++) {
    uint64_t r = kind == 2 ? next_random() >> 40 : (uint64_t)i;
    if (kind == 0 || (r & 1)) {
      __asm__ volatile("nop" ::: "memory");
      x++;
    }
    __asm__ volatile("" : "+r"(x));
  }
  sink = x;
}

static void atomics(long n) {
  static uint64_t counter;
  for (long i = 0; i < n; i++) __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
  sink = counter;
}

static __attribute__((noinline)) uint64_t called(uint64_t x) {
  __asm__ volatile("" : "+r"(x));
  return x + 1;
}
static void calls(long n) {
  uint64_t x = 0;
  for (long i = 0; i < n; i++) x = called(x);
  sink = x;
}

static __attribute__((noinline)) uint64_t one(uint64_t x) { return x + 1; }
static __attribute__((noinline)) uint64_t two(uint64_t x) { return x + 2; }
static __attribute__((noinline)) uint64_t three(uint64_t x) { return x + 3; }
static void indirect(long n) {
  uint64_t (*volatile table[3])(uint64_t) = {one, two, three};
  uint64_t x = 0;
  for (long i = 0, k = 0; i < n; i++, k = k == 2 ? 0 : k + 1) x = table[k](x);
  sink = x;
}

static void unaligned(long n) {
  char* area = aligned_alloc(64, 128);
  memset(area, 0, 128);
  volatile uint64_t* p = (volatile uint64_t*)(area + 60);
  uint64_t sum = 0;
  for (long i = 0; i < n; i++) sum += *p;
  sink = sum;
}

static void strings(long n) {
#ifdef __x86_64__
  static char from[64], to[64];
  for (long i = 0; i < n; i++) {
    void *s = from, *d = to;
    size_t count = 40;
    __asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(count)::"memory");
  }
#else
  (void)n;
#endif
}

/* Phases of different kinds in turns. */
static void mixture(long n) {
  for (long i = 0; i < n; i++) {
    branches(500, 2);
    stream(1, 64 << 10);
    doubles(500);
    calls(100);
    chase(500, 128 << 10);
  }
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  long n = atol(argv[2]);
  size_t bytes = argc > 3 ? strtoul(argv[3], NULL, 10) : 4096;
  const char* name = argv[1];
  if (!strcmp(name, "loop"))
    loop(n);
  else if (!strcmp(name, "ints"))
    ints(n);
  else if (!strcmp(name, "doubles"))
    doubles(n);
  else if (!strcmp(name, "vectors"))
    vectors(n);
  else if (!strcmp(name, "chase"))
    chase(n, bytes);
  else if (!strcmp(name, "stream"))
    stream(n, bytes);
  else if (!strcmp(name, "always"))
    branches(n, 0);
  else if (!strcmp(name, "alternate"))
    branches(n, 1);
  else if (!strcmp(name, "random"))
    branches(n, 2);
  else if (!strcmp(name, "atomics"))
    atomics(n);
  else if (!strcmp(name, "calls"))
    calls(n);
  else if (!strcmp(name, "indirect"))
    indirect(n);
  else if (!strcmp(name, "mixture"))
    mixture(n);
  else if (!strcmp(name, "unaligned"))
    unaligned(n);
  else if (!strcmp(name, "strings"))
    strings(n);
  else
    return 2;
  return 0;
}
