/* Basic blocks of other programs, by the thousand copies: how long they take here, in units of a dependent add, and a
 * run of them to be traced. Registers and memory hold addresses; every page that a block asks for is the same one, so
 * that all accesses hit the first level (as in Chen and others, "BHive: a benchmark suite and measurement framework for
 * validating x86-64 basic block performance models", IISWC 2019).
 *
 *   blocks time < BLOCKS       a line of hexadecimal code each -> "nanoseconds of one copy, of an add", or "-" where it
 *                              faults
 *   blocks run COUNT HEX       COUNT rounds of as many copies, to be traced; prints how many copies a round has
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if !defined(__x86_64__)
int main(void) {
  fputs("skipped: these blocks are of x86-64\n", stderr);
  return 77;
}
#else

enum { PAGE = 4096, CODE_BYTES = 1 << 16, MOST_BYTES = 1024, MOST_PAGES = 200, ROUND_BYTES = 4000, TRIES = 9 };
/* What registers and memory hold: an address in the middle of a page, below 2 GiB. */
static const uint64_t FILL = 0x12345700;

static int page_file;
static uint8_t* code;
static volatile int pages_mapped;

static void fail(int signal_number) { _exit(signal_number); }

/* Maps the page that was asked for, and has the instruction try again. */
static void on_fault(int signal_number, siginfo_t* info, void* context) {
  (void)context;
  const uint64_t page = (uint64_t)info->si_addr & ~(uint64_t)(PAGE - 1);
  if (info->si_code == SI_KERNEL || page == 0 || ++pages_mapped > MOST_PAGES) _exit(signal_number);
  if (mmap((void*)page, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, page_file, 0) == MAP_FAILED)
    _exit(signal_number);
}

static void set_up(void) {
  page_file = memfd_create("blocks", 0);
  if (page_file < 0 || ftruncate(page_file, PAGE) != 0) exit(1);
  uint64_t* page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, page_file, 0);
  code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* stack = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || code == MAP_FAILED || stack == MAP_FAILED) exit(1);
  for (int i = 0; i < PAGE / 8; ++i) page[i] = FILL;
  const stack_t other = {.ss_sp = stack, .ss_size = 4 * PAGE};
  sigaltstack(&other, NULL);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGSEGV, &action, NULL);
  struct sigaction fatal = {.sa_handler = fail, .sa_flags = SA_ONSTACK};
  const int others[] = {SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) sigaction(others[i], &fatal, NULL);
}

static uint8_t* put(uint8_t* at, const void* bytes, size_t size) {
  memcpy(at, bytes, size);
  return at + size;
}

/* void (*)(uint64_t rounds). The stack pointer and the count lie behind the code. Returns copies in a round. */
static int assemble(const uint8_t* block, size_t size) {
  uint8_t* at = code;
  uint8_t* const saved = code + CODE_BYTES - 16;
  uint8_t* const count = code + CODE_BYTES - 8;
  int32_t offset;
  at = put(at, "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57", 10); /* push rbx, rbp, r12 to r15 */
  at = put(at, "\x48\x89\x25", 3);                              /* mov [saved], rsp */
  offset = (int32_t)(saved - (at + 4));
  at = put(at, &offset, 4);
  at = put(at, "\x48\x89\x3d", 3); /* mov [count], rdi */
  offset = (int32_t)(count - (at + 4));
  at = put(at, &offset, 4);
  uint8_t* const again = at;
  for (int reg = 0; reg < 16; ++reg) { /* mov r32, FILL */
    if (reg >= 8) *at++ = 0x41;
    *at++ = (uint8_t)(0xb8 + reg % 8);
    const uint32_t fill = (uint32_t)FILL;
    at = put(at, &fill, 4);
  }
  const int copies = (int)(ROUND_BYTES / size) + 1;
  for (int i = 0; i < copies; ++i) at = put(at, block, size);
  at = put(at, "\x48\xff\x0d", 3); /* dec [count] */
  offset = (int32_t)(count - (at + 4));
  at = put(at, &offset, 4);
  at = put(at, "\x0f\x85", 2); /* jnz again */
  offset = (int32_t)(again - (at + 4));
  at = put(at, &offset, 4);
  at = put(at, "\x48\x8b\x25", 3); /* mov rsp, [saved] */
  offset = (int32_t)(saved - (at + 4));
  at = put(at, &offset, 4);
  at = put(at, "\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b\xfc\xc3", 12); /* pop, cld, ret */
  return copies;
}

/* Vectors hold ones; what is too small for a normal number counts as zero. */
static void run(uint64_t rounds) {
  static const double ones[4] = {1, 1, 1, 1};
  const uint32_t flush = 0x9fc0;
  void* entry = code;
  __asm__ volatile(
      "ldmxcsr %2\n"
      "vmovupd %3, %%ymm0\nvmovapd %%ymm0, %%ymm1\nvmovapd %%ymm0, %%ymm2\nvmovapd %%ymm0, %%ymm3\n"
      "vmovapd %%ymm0, %%ymm4\nvmovapd %%ymm0, %%ymm5\nvmovapd %%ymm0, %%ymm6\nvmovapd %%ymm0, %%ymm7\n"
      "vmovapd %%ymm0, %%ymm8\nvmovapd %%ymm0, %%ymm9\nvmovapd %%ymm0, %%ymm10\nvmovapd %%ymm0, %%ymm11\n"
      "vmovapd %%ymm0, %%ymm12\nvmovapd %%ymm0, %%ymm13\nvmovapd %%ymm0, %%ymm14\nvmovapd %%ymm0, %%ymm15\n"
      "vzeroupper\n"
      "sub $128, %%rsp\ncall *%%rax\nadd $128, %%rsp\n" /* below is the compiler's */
      "emms\nvzeroupper\n"
      : "+a"(entry), "+D"(rounds)
      : "m"(flush), "m"(ones)
      : "cc", "memory", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
        "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static double add_ns(void) {
  const uint64_t rounds = 20000;
  uint64_t n = rounds;
  const double begin = now_ns();
  __asm__ volatile("1:\n.rept 100\nadd $1, %%rax\n.endr\ndec %0\njnz 1b\n" : "+r"(n)::"rax", "cc");
  return (now_ns() - begin) / (100.0 * (double)rounds);
}

static size_t bytes_of(const char* hex, uint8_t* bytes) {
  size_t size = 0;
  unsigned value;
  while (size < MOST_BYTES && sscanf(hex + 2 * size, "%2x", &value) == 1) bytes[size++] = (uint8_t)value;
  return size;
}

static void time_block(const char* hex) {
  uint8_t bytes[MOST_BYTES];
  const size_t size = bytes_of(hex, bytes);
  set_up();
  const int copies = assemble(bytes, size);
  run(2); /* maps its pages */
  uint64_t rounds = 1;
  for (double took = 0; took < 2e6; rounds *= 2) {
    const double begin = now_ns();
    run(rounds);
    took = now_ns() - begin;
  }
  double best = 1e300, add = 1e300;
  for (int i = 0; i < TRIES; ++i) {
    const double begin = now_ns();
    run(rounds);
    const double one = (now_ns() - begin) / (double)rounds / copies;
    if (one < best) best = one;
    const double dependent = add_ns();
    if (dependent < add) add = dependent;
  }
  printf("%.5f %.5f\n", best, add);
}

int main(int count, char** arguments) {
  if (count == 4 && strcmp(arguments[1], "run") == 0) {
    uint8_t bytes[MOST_BYTES];
    const size_t size = bytes_of(arguments[3], bytes);
    if (size == 0) return 2;
    set_up();
    printf("%d\n", assemble(bytes, size));
    fflush(stdout);
    run(strtoull(arguments[2], NULL, 10));
    return 0;
  }
  if (count != 2 || strcmp(arguments[1], "time") != 0) {
    fputs("usage: blocks time < BLOCKS | blocks run COUNT HEX\n", stderr);
    return 2;
  }
  char line[2 * MOST_BYTES + 2];
  while (fgets(line, sizeof line, stdin) != NULL) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      time_block(line);
      fflush(stdout);
      _exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) puts("-");
  }
  return 0;
}
#endif
