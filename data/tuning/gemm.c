/* A product of two square matrices by blocks, for data/tuning/gemm.json: gemm BM BN BK ROWS DEPTH PACK THREADS. Checks its result, then
 * prints the seconds of the faster of two products. C is split over the threads by rows. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kSize = 384, kMostThreads = 16 };
static float a[kSize][kSize], b[kSize][kSize], c[kSize][kSize];
static int bm, bn, bk, rows, depth, pack, threads;

/* ROWS rows of C at once, DEPTH products for each time that they are loaded and stored. */
#define KERNEL(ROWS, DEPTH)                                                                                              \
  static void kernel_##ROWS##_##DEPTH(int i, int k0, int k1, const float* panel, long stride, int j0, int j1) {          \
    for (int k = k0; k < k1; k += DEPTH) {                                                                               \
      const float* const from = panel + (k - k0) * stride;                                                               \
      for (int r = 0; r < ROWS; ++r) {                                                                                   \
        float* const to = &c[i + r][j0];                                                                                 \
        for (int j = 0; j < j1 - j0; ++j) {                                                                              \
          float sum = to[j];                                                                                             \
          for (int d = 0; d < DEPTH; ++d) sum += a[i + r][k + d] * from[d * stride + j];                                 \
          to[j] = sum;                                                                                                   \
        }                                                                                                                \
      }                                                                                                                  \
    }                                                                                                                    \
  }
KERNEL(1, 1) KERNEL(1, 2) KERNEL(1, 4) KERNEL(1, 8)
KERNEL(2, 1) KERNEL(2, 2) KERNEL(2, 4) KERNEL(2, 8)
KERNEL(4, 1) KERNEL(4, 2) KERNEL(4, 4) KERNEL(4, 8)
typedef void (*kernel)(int, int, int, const float*, long, int, int);
static const kernel kernels[3][4] = {{kernel_1_1, kernel_1_2, kernel_1_4, kernel_1_8},
                                     {kernel_2_1, kernel_2_2, kernel_2_4, kernel_2_8},
                                     {kernel_4_1, kernel_4_2, kernel_4_4, kernel_4_8}};
static int place_of(int power) { return power == 1 ? 0 : power == 2 ? 1 : power == 4 ? 2 : power == 8 ? 3 : -1; }

static void multiply_rows(int from, int to) {
  const kernel work_on = kernels[place_of(rows)][place_of(depth)];
  float* packed = malloc(sizeof(float) * (size_t)bk * (size_t)bn);
  for (int j0 = 0; j0 < kSize; j0 += bn) {
    const int j1 = j0 + bn < kSize ? j0 + bn : kSize;
    for (int k0 = 0; k0 < kSize; k0 += bk) {
      const int k1 = k0 + bk < kSize ? k0 + bk : kSize;
      const float* panel = &b[k0][j0];
      long stride = kSize;
      if (pack) {
        for (int k = k0; k < k1; ++k) memcpy(packed + (long)(k - k0) * bn, &b[k][j0], sizeof(float) * (size_t)(j1 - j0));
        panel = packed;
        stride = bn;
      }
      for (int i0 = from; i0 < to; i0 += bm) {
        const int i1 = i0 + bm < to ? i0 + bm : to;
        for (int i = i0; i < i1; i += rows) work_on(i, k0, k1, panel, stride, j0, j1);
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
  if (argc != 8) return 2;
  int* const to[] = {&bm, &bn, &bk, &rows, &depth, &pack, &threads};
  for (int i = 0; i < 7; ++i) *to[i] = atoi(argv[i + 1]);
  if (bm < rows || bn < 1 || bk < 1 || bk % 8 || place_of(rows) < 0 || place_of(rows) > 2 || place_of(depth) < 0 ||
      threads < 1 || threads > kMostThreads || kSize % (threads * rows) || bm % rows)
    return 2;
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) {
      a[i][j] = (float)((i * 31 + j * 17) % 101) / 101.0f;
      b[i][j] = (float)((i * 13 + j * 29) % 97) / 97.0f;
    }
  double fastest_s = 1e9;
  for (int repeat = 0; repeat < 2; ++repeat) {
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
