/* A product of two square matrices by blocks, for data/tuning/gemm.json: gemm BM BN BK ROWS PACK THREADS. Checks its result, then
 * prints the seconds of the fastest of three products. C is split over the threads by rows. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kSize = 256, kMostThreads = 16 };
static float a[kSize][kSize], b[kSize][kSize], c[kSize][kSize];
static int bm, bn, bk, rows, pack, threads;

#define ROWS_KERNEL(COUNT)                                                                                        \
  static void rows_##COUNT(int i, int k0, int k1, const float* panel, int stride, int j0, int j1) {                \
    for (int k = k0; k < k1; ++k) {                                                                                \
      const float* from = panel + (long)(k - k0) * stride;                                                         \
      for (int r = 0; r < COUNT; ++r) {                                                                            \
        const float x = a[i + r][k];                                                                               \
        float* to = c[i + r];                                                                                      \
        for (int j = j0; j < j1; ++j) to[j] += x * from[j - j0];                                                   \
      }                                                                                                            \
    }                                                                                                              \
  }
ROWS_KERNEL(1)
ROWS_KERNEL(2)
ROWS_KERNEL(4)
ROWS_KERNEL(8)

static void multiply_rows(int from, int to) {
  float* packed = malloc(sizeof(float) * (size_t)bk * (size_t)bn);
  for (int j0 = 0; j0 < kSize; j0 += bn) {
    const int j1 = j0 + bn < kSize ? j0 + bn : kSize;
    for (int k0 = 0; k0 < kSize; k0 += bk) {
      const int k1 = k0 + bk < kSize ? k0 + bk : kSize;
      const float* panel = &b[k0][j0];
      int stride = kSize;
      if (pack) {
        for (int k = k0; k < k1; ++k) memcpy(packed + (long)(k - k0) * bn, &b[k][j0], sizeof(float) * (size_t)(j1 - j0));
        panel = packed;
        stride = bn;
      }
      for (int i0 = from; i0 < to; i0 += bm) {
        const int i1 = i0 + bm < to ? i0 + bm : to;
        for (int i = i0; i < i1; i += rows) {
          if (rows == 1) rows_1(i, k0, k1, panel, stride, j0, j1);
          if (rows == 2) rows_2(i, k0, k1, panel, stride, j0, j1);
          if (rows == 4) rows_4(i, k0, k1, panel, stride, j0, j1);
          if (rows == 8) rows_8(i, k0, k1, panel, stride, j0, j1);
        }
      }
    }
  }
  free(packed);
}

static void* work(void* part) {
  const long number = (long)part;
  const int share = kSize / threads;
  multiply_rows((int)number * share, (int)(number + 1) * share);
  return NULL;
}

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* C x against A (B x). */
static int is_right(void) {
  double x[kSize], y[kSize];
  for (int i = 0; i < kSize; ++i) x[i] = (i * 7 % 13) - 6;
  for (int i = 0; i < kSize; ++i) {
    y[i] = 0;
    for (int j = 0; j < kSize; ++j) y[i] += (double)b[i][j] * x[j];
  }
  for (int i = 0; i < kSize; ++i) {
    double have = 0, want = 0;
    for (int j = 0; j < kSize; ++j) {
      have += (double)c[i][j] * x[j];
      want += (double)a[i][j] * y[j];
    }
    if (!(fabs(have - want) <= 1e-2 * (1 + fabs(want)))) return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  int* const to[] = {&bm, &bn, &bk, &rows, &pack, &threads};
  for (int i = 0; i < 6; ++i) *to[i] = atoi(argv[i + 1]);
  if (bm < rows || bn < 1 || bk < 1 || rows < 1 || threads < 1 || threads > kMostThreads || kSize % (threads * rows)) return 2;
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) {
      a[i][j] = (float)((i * 31 + j * 17) % 101) / 101.0f;
      b[i][j] = (float)((i * 13 + j * 29) % 97) / 97.0f;
    }
  double fastest_s = 1e9;
  for (int repeat = 0; repeat < 3; ++repeat) {
    memset(c, 0, sizeof c);
    const double began_s = now_s();
    pthread_t running[kMostThreads];
    for (long t = 1; t < threads; ++t)
      if (pthread_create(&running[t], NULL, work, (void*)t)) return 1;
    work((void*)0);
    for (int t = 1; t < threads; ++t) pthread_join(running[t], NULL);
    const double took_s = now_s() - began_s;
    if (took_s < fastest_s) fastest_s = took_s;
  }
  if (!is_right()) return 3;
  printf("seconds: %.9f\n", fastest_s);
  return 0;
}
