/* One AVX-512 instruction: neither QEMU nor valgrind of Debian 12 runs it. */
int main(void) {
  __asm__ volatile("vpaddd %%zmm0, %%zmm0, %%zmm0" ::: "xmm0");
  return 0;
}
