/* Loaded before a program (LD_PRELOAD): floating-point numbers that are denormal count as 0, read and written, in its
   first thread and in all that start from it. What perfcast diagnose proves denormal numbers by. */
#if defined(__x86_64__)
#include <xmmintrin.h>
__attribute__((constructor)) static void flush_denormals(void) {
  _mm_setcsr(_mm_getcsr() | 0x8040u); /* flush to zero, denormals are zero */
}
#elif defined(__aarch64__)
__attribute__((constructor)) static void flush_denormals(void) {
  unsigned long control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  control |= 1ul << 24; /* FZ */
  __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#else
static int nothing_to_do;
#endif
