/* A library of which the program uses a part; one function in two variants. */
__attribute__((noinline)) static int mix_sse2(int x) { return x * 3 ^ x >> 2; }
__attribute__((noinline)) static int mix_avx2(int x) { return x * 5 ^ x >> 3; }
static volatile int wide;

int used_work(int x) { return wide ? mix_avx2(x) : mix_sse2(x); }
int unused_work(int x) {
  int product = 1;
  while (x > 1) product *= x--;
  return product;
}
