/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library: TURNS more instructions make one unlike the other. */
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#ifndef TURNS
#define TURNS 0
#endif

__attribute__((noinline)) static void inner(void) {
  __asm__ volatile(".rept " TEXT(TURNS) "\n nop\n .endr" ::: "memory");
}
void library_work(void) { inner(); }
void library_rest(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((constructor)) void library_starts(void) {
  for (int i = 0; i < 7; i++) inner();
}
__attribute__((destructor)) void library_ends(void) {
  for (int i = 0; i < 3; i++) inner();
}
