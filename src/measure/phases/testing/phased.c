/* A program of known phases that says how much CPU time each took:
 *   phased KERNEL ROUNDS [KERNEL ROUNDS ...]
 * runs the kernels one after another. At its end, on standard error, a line for each of them in their order: its name,
 * CPU time in seconds. The work is the same wherever it runs; only time differs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHASED = 1 << 21 /* 16 MiB */, NEAR = 1 << 11, MOST = 64, SORTED = 4096, TEXT = 1 << 16 };

static uint64_t far_ring[CHASED], near_ring[NEAR];
static double values[1 << 20];
static uint32_t sorted[SORTED];
static char text[TEXT];
static volatile uint64_t result;

static uint64_t state = 88172645463325252u;
static uint64_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* One cycle through all places in a random order (Sattolo). */
static void make_ring(uint64_t* ring, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) ring[i] = i;
  for (uint64_t i = n - 1; i > 0; i--) {
    const uint64_t k = draw() % i, other = ring[i];
    ring[i] = ring[k];
    ring[k] = other;
  }
}

/* The same code on a large and on a small ring: the time of an instruction differs, the code does not. */
static __attribute__((noinline)) void chase(const uint64_t* ring, long rounds) {
  uint64_t at = 0;
  for (long i = 0; i < rounds * 1000; i++) at = ring[at];
  result += at;
}
static void far_away(long rounds) { chase(far_ring, rounds); }
static void near_by(long rounds) { chase(near_ring, rounds); }

static void hash(long rounds) {
  uint64_t x = 1;
  for (long i = 0; i < rounds * 1000; i++) x = (x ^ (x >> 29)) * 0x9e3779b97f4a7c15u + (uint64_t)i;
  result += x;
}

static void divide(long rounds) {
  uint64_t x = 1;
  for (long i = 1; i < rounds * 1000; i++) x += (x | 0x100000001u) / (uint64_t)i;
  result += x;
}

static void stream(long rounds) {
  for (long r = 0; r < rounds; r++)
    for (long i = 0; i < 1 << 20; i++) values[i] = values[i] * 0.5 + 1;
  result += (uint64_t)values[7];
}

static void polynomial(long rounds) {
  double sum = 0;
  for (long i = 0; i < rounds * 1000; i++) {
    const double x = (double)(i & 1023) * 1e-3;
    sum += (((x * 0.3 + 0.7) * x - 0.2) * x + 1.1) * x - 0.4;
  }
  result += (uint64_t)sum;
}

static int by_value(const void* a, const void* b) {
  const uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
  return (x > y) - (x < y);
}

static void order(long rounds) {
  for (long r = 0; r < rounds; r++) {
    for (int i = 0; i < SORTED; i++) sorted[i] = (uint32_t)draw();
    qsort(sorted, SORTED, sizeof *sorted, by_value);
  }
  result += sorted[9];
}

static void count_words(long rounds) {
  uint64_t words = 0;
  for (int i = 0; i < TEXT; i++) text[i] = (draw() & 7) == 0 ? ' ' : 'x';
  for (long r = 0; r < rounds; r++) {
    int inside = 0;
    for (int i = 0; i < TEXT; i++) {
      const int is_word = text[i] != ' ';
      if (is_word && !inside) words++;
      inside = is_word;
    }
  }
  result += words;
}

static const struct {
  const char* name;
  void (*run)(long);
} kernels[] = {{"far", far_away},          {"near", near_by},     {"hash", hash},
               {"divide", divide},         {"stream", stream},    {"order", order},
               {"polynomial", polynomial}, {"words", count_words}};

static double cpu_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char** argv) {
  static double took[MOST];
  int n = 0;
  make_ring(far_ring, CHASED);
  make_ring(near_ring, NEAR);
  for (int i = 1; i + 1 < argc && n < MOST; i += 2, n++) {
    const double began = cpu_s();
    size_t k = 0;
    while (k < sizeof kernels / sizeof *kernels && strcmp(kernels[k].name, argv[i]) != 0) k++;
    if (k == sizeof kernels / sizeof *kernels) {
      fprintf(stderr, "phased: no kernel %s\n", argv[i]);
      return 2;
    }
    kernels[k].run(atol(argv[i + 1]));
    took[n] = cpu_s() - began;
  }
  for (int i = 0; i < n; i++) fprintf(stderr, "%s %.6f\n", argv[1 + 2 * i], took[i]);
  return 0;
}
