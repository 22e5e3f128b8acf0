/* Programs of several threads, the same work whatever their number: what a forecast of wall time by threads is held to.
 *   threads NAME THREADS     runs it; prints a checksum
 *   threads list             names
 * matrix, triad, uneven: OpenMP; hash, queue: pthreads. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64 };

static double matrix(int threads) {
  enum { N = 900 };
  static double a[N][N], b[N][N], c[N][N];
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) a[i][j] = i + j, b[i][j] = i - j;
  for (int round = 0; round < 2; ++round) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8)
    for (int i = 0; i < N; ++i)
      for (int k = 0; k < N; ++k)
        for (int j = 0; j < N; ++j) c[i][j] += a[i][k] * b[k][j];
  }
  return c[1][2];
}

static double triad(int threads) {
  const long n = 8L << 20;
  double* a = malloc(n * sizeof *a);
  double* b = malloc(n * sizeof *b);
  double* c = malloc(n * sizeof *c);
  if (!a || !b || !c) exit(1);
#pragma omp parallel for num_threads(threads)
  for (long i = 0; i < n; ++i) a[i] = 0, b[i] = 1, c[i] = 2;
  for (int round = 0; round < 30; ++round) {
#pragma omp parallel for num_threads(threads)
    for (long i = 0; i < n; ++i) a[i] = b[i] + 0.5 * c[i] + 0.25 * a[i];
  }
  const double result = a[n / 2];
  free(a);
  free(b);
  free(c);
  return result;
}

/* A quarter of it by one thread alone, the rest in pieces of very different sizes. */
static double uneven(int threads) {
  double sum = 0;
  for (long i = 1; i < 30000000; ++i) sum += 1.0 / (double)i;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(+ : sum)
  for (int piece = 0; piece < 60; ++piece)
    for (long i = 1; i < 50000L * piece; ++i) sum += 1.0 / (double)(i + piece);
  return sum;
}

struct hash_part {
  uint64_t first, last, sum;
};
static void* hash_range(void* argument) {
  struct hash_part* part = argument;
  for (uint64_t i = part->first; i < part->last; ++i) {
    uint64_t x = i * 0x9e3779b97f4a7c15u;
    for (int round = 0; round < 8; ++round) x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    part->sum ^= x;
  }
  return NULL;
}
static double hash(int threads) {
  const uint64_t all = 60000000;
  pthread_t ids[MOST_THREADS];
  struct hash_part parts[MOST_THREADS];
  uint64_t sum = 0;
  for (int t = 0; t < threads; ++t) {
    parts[t] = (struct hash_part){all * t / threads, all * (t + 1) / threads, 0};
    if (pthread_create(&ids[t], NULL, hash_range, &parts[t]) != 0) exit(1);
  }
  for (int t = 0; t < threads; ++t) {
    pthread_join(ids[t], NULL);
    sum ^= parts[t].sum;
  }
  return (double)(sum >> 12);
}

/* Blocks to sort, taken from a queue under a lock. */
enum { BLOCKS = 160, BLOCK = 60000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next_block;
static double queue_sum;
static int ascending(const void* a, const void* b) {
  const uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
  return (x > y) - (x < y);
}
static void* sort_blocks(void* unused) {
  (void)unused;
  uint32_t* block = malloc(BLOCK * sizeof *block);
  if (!block) exit(1);
  for (;;) {
    pthread_mutex_lock(&lock);
    const int mine = next_block++;
    pthread_mutex_unlock(&lock);
    if (mine >= BLOCKS) break;
    uint32_t x = 12345u + (uint32_t)mine;
    for (int i = 0; i < BLOCK; ++i) block[i] = x = x * 1664525u + 1013904223u;
    qsort(block, BLOCK, sizeof *block, ascending);
    pthread_mutex_lock(&lock);
    queue_sum += block[BLOCK / 2];
    pthread_mutex_unlock(&lock);
  }
  free(block);
  return NULL;
}
static double queue(int threads) {
  pthread_t ids[MOST_THREADS];
  for (int t = 0; t < threads; ++t)
    if (pthread_create(&ids[t], NULL, sort_blocks, NULL) != 0) exit(1);
  for (int t = 0; t < threads; ++t) pthread_join(ids[t], NULL);
  return queue_sum;
}

static const struct {
  const char* name;
  double (*run)(int);
} programs[] = {{"matrix", matrix}, {"triad", triad}, {"uneven", uneven}, {"hash", hash}, {"queue", queue}};

int main(int count, char** arguments) {
  const size_t all = sizeof programs / sizeof *programs;
  if (count == 2 && strcmp(arguments[1], "list") == 0) {
    for (size_t i = 0; i < all; ++i) puts(programs[i].name);
    return 0;
  }
  const int threads = count == 3 ? atoi(arguments[2]) : 0;
  for (size_t i = 0; i < all && threads > 0 && threads <= MOST_THREADS; ++i) {
    if (strcmp(arguments[1], programs[i].name) != 0) continue;
    printf("%.6g\n", programs[i].run(threads));
    return 0;
  }
  fputs("usage: threads NAME THREADS | threads list\n", stderr);
  return 2;
}
