/* One sum in two variants, and the choice between them by the processor. */
#include <immintrin.h>

enum { N = 8192, ROWS = 8 };

__attribute__((target("avx2"), noinline)) static void add_avx2(float* sum, const float* a) {
  __m256 s[ROWS];
  for (int k = 0; k < ROWS; k++) s[k] = _mm256_setzero_ps();
  for (int i = 0; i < N; i += 8 * ROWS)
#pragma GCC unroll 8
    for (int k = 0; k < ROWS; k++) s[k] = _mm256_add_ps(s[k], _mm256_loadu_ps(a + i + 8 * k));
  for (int k = 1; k < ROWS; k++) s[0] = _mm256_add_ps(s[0], s[k]);
  _mm256_storeu_ps(sum, s[0]);
}

__attribute__((target("avx512f"), noinline)) static void add_avx512(float* sum, const float* a) {
  __m512 s[ROWS];
  for (int k = 0; k < ROWS; k++) s[k] = _mm512_setzero_ps();
  for (int i = 0; i < N; i += 16 * ROWS)
#pragma GCC unroll 8
    for (int k = 0; k < ROWS; k++) s[k] = _mm512_add_ps(s[k], _mm512_loadu_ps(a + i + 16 * k));
  for (int k = 1; k < ROWS; k++) s[0] = _mm512_add_ps(s[0], s[k]);
  _mm512_storeu_ps(sum, s[0]);
}

int main(void) {
  static float a[N], sum[16];
  for (int i = 0; i < N; i++) a[i] = (float)i;
  for (int r = 0; r < 20000; r++) {
    if (__builtin_cpu_supports("avx512f")) {
      add_avx512(sum, a);
    } else if (__builtin_cpu_supports("avx2")) {
      add_avx2(sum, a);
    }
  }
  return sum[0] > 0 ? 0 : 1;
}
