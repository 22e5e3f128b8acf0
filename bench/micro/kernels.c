/* Small loops whose time on a core follows from one or two of its numbers: chains of one operation, many at once, walks
 * over memory, branches. Times in units of a dependent add need no counters and no clock rate.
 *
 *   kernels list               names
 *   kernels time NAME...       NAME, then dependent adds that one iteration takes: lower quartile and median of 15
 *   kernels prepare NAME FILE       the memory that it walks over
 *   kernels run NAME COUNT FILE     COUNT rounds of 16 iterations over that, to be traced
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if !defined(__x86_64__)
int main(void) {
  fputs("skipped: these loops are written for x86-64\n", stderr);
  return 77;
}
#else

#define X2(s) s s
#define X4(s) X2(s) X2(s)
#define X8(s) X4(s) X4(s)
#define X16(s) X8(s) X8(s)

enum { LINE = 64, PAGES = 1 << 28, UNROLLED = 16 };

static const uint64_t HERE = 0x200000000000;
static char* memory;
static uint64_t sink;

/* COUNT rounds of 16 times `body`. */
#define LOOP(name, before, body, ...)                                              \
  static void name(uint64_t n, uint64_t bytes) {                                   \
    (void)bytes;                                                                   \
    __asm__ volatile(before "\n.p2align 5\n1:\n" X16(body "\n") "dec %0\njnz 1b\n" \
                     : "+r"(n)                                                     \
                     : "r"(memory)                                                 \
                     : "cc", "memory", __VA_ARGS__);                               \
  }
/* Four times four bodies. */
#define LOOP4(name, before, a, b, c, d, ...)                                                        \
  static void name(uint64_t n, uint64_t bytes) {                                                    \
    (void)bytes;                                                                                    \
    __asm__ volatile(before "\n.p2align 5\n1:\n" X4(a "\n" b "\n" c "\n" d "\n") "dec %0\njnz 1b\n" \
                     : "+r"(n)                                                                      \
                     : "r"(memory)                                                                  \
                     : "cc", "memory", __VA_ARGS__);                                                \
  }

LOOP(add_chain, "", "add $1, %%rax", "rax")
LOOP(multiply_chain, "mov $3, %%eax", "imul %%rax, %%rax", "rax")
LOOP(move_chain, "", "mov %%rax, %%rcx\nadd $1, %%rcx\nmov %%rcx, %%rax", "rax", "rcx")
LOOP(float_add_chain, "pxor %%xmm0, %%xmm0", "addsd %%xmm0, %%xmm0", "xmm0")
LOOP(float_multiply_chain, "pxor %%xmm0, %%xmm0", "mulsd %%xmm0, %%xmm0", "xmm0")
LOOP(fma_chain, "vpxor %%xmm0, %%xmm0, %%xmm0\nvmovapd %%xmm0, %%xmm1", "vfmadd231sd %%xmm1, %%xmm1, %%xmm0", "xmm0",
     "xmm1")
LOOP(float_divide_chain, "mov $0x3ff8000000000000, %%rax\nmovq %%rax, %%xmm0\nmovq %%rax, %%xmm1",
     "divsd %%xmm1, %%xmm0\nmulsd %%xmm1, %%xmm0", "rax", "xmm0", "xmm1")
LOOP(float_root_chain, "mov $0x3ff8000000000000, %%rax\nmovq %%rax, %%xmm0", "sqrtsd %%xmm0, %%xmm0", "rax", "xmm0")
LOOP(divide_64_chain, "mov $0x123456789abcdef, %%r8\nmov $3, %%ecx\nmov %%r8, %%rax",
     "xor %%edx, %%edx\ndiv %%rcx\nor %%r8, %%rax", "rax", "rcx", "rdx", "r8")
LOOP(divide_32_chain, "mov $0x12345678, %%r8d\nmov $3, %%ecx\nmov %%r8d, %%eax",
     "xor %%edx, %%edx\ndiv %%ecx\nor %%r8d, %%eax", "rax", "rcx", "rdx", "r8")
LOOP(convert_chain, "", "cvtsi2sd %%rax, %%xmm0\ncvttsd2si %%xmm0, %%rax", "rax", "xmm0")
LOOP(shuffle_chain, "pxor %%xmm0, %%xmm0", "pshufb %%xmm0, %%xmm0", "xmm0")
LOOP(vector_multiply_chain, "pxor %%xmm0, %%xmm0", "pmulld %%xmm0, %%xmm0", "xmm0")
LOOP(forward_chain, "mov %1, %%rbx", "mov %%rax, (%%rbx)\nmov (%%rbx), %%rax", "rax", "rbx")
LOOP(multiply_add_chain, "mov $3, %%eax", "imul %%rax, %%rax\nadd $1, %%rax\nxor $5, %%rax", "rax")
LOOP4(adds, "", "add $1, %%rax", "add $1, %%rcx", "add $1, %%rdx", "add $1, %%r8", "rax", "rcx", "rdx", "r8")
LOOP4(shifts, "", "shl $1, %%rax", "shl $1, %%rcx", "shl $1, %%rdx", "shl $1, %%r8", "rax", "rcx", "rdx", "r8")
LOOP4(multiplies, "", "imul %%rax, %%rax", "imul %%rcx, %%rcx", "imul %%rdx, %%rdx", "imul %%r8, %%r8", "rax", "rcx",
      "rdx", "r8")
LOOP4(float_adds, "", "vaddpd %%ymm8, %%ymm8, %%ymm0", "vaddpd %%ymm8, %%ymm8, %%ymm1", "vaddpd %%ymm8, %%ymm8, %%ymm2",
      "vaddpd %%ymm8, %%ymm8, %%ymm3", "xmm0", "xmm1", "xmm2", "xmm3", "xmm8")
LOOP4(fmas, "vpxor %%xmm8, %%xmm8, %%xmm8", "vfmadd213pd %%ymm8, %%ymm8, %%ymm0", "vfmadd213pd %%ymm8, %%ymm8, %%ymm1",
      "vfmadd213pd %%ymm8, %%ymm8, %%ymm2", "vfmadd213pd %%ymm8, %%ymm8, %%ymm3", "xmm0", "xmm1", "xmm2", "xmm3",
      "xmm8")
LOOP4(vector_adds, "", "vpaddd %%ymm8, %%ymm8, %%ymm0", "vpaddd %%ymm8, %%ymm8, %%ymm1",
      "vpaddd %%ymm8, %%ymm8, %%ymm2", "vpaddd %%ymm8, %%ymm8, %%ymm3", "xmm0", "xmm1", "xmm2", "xmm3", "xmm8")
LOOP4(float_divides, "mov $0x3ff8000000000000, %%rax\nmovq %%rax, %%xmm8", "vdivsd %%xmm8, %%xmm8, %%xmm0",
      "vdivsd %%xmm8, %%xmm8, %%xmm1", "vdivsd %%xmm8, %%xmm8, %%xmm2", "vdivsd %%xmm8, %%xmm8, %%xmm3", "rax", "xmm0",
      "xmm1", "xmm2", "xmm3", "xmm8")
LOOP4(loads, "mov %1, %%rbx", "mov (%%rbx), %%rax", "mov 8(%%rbx), %%rcx", "mov 16(%%rbx), %%rdx",
      "mov 24(%%rbx), %%r8", "rax", "rbx", "rcx", "rdx", "r8")
LOOP4(stores, "mov %1, %%rbx", "mov %%rax, (%%rbx)", "mov %%rax, 8(%%rbx)", "mov %%rax, 16(%%rbx)",
      "mov %%rax, 24(%%rbx)", "rbx")
LOOP4(loads_and_adds, "mov %1, %%rbx", "add (%%rbx), %%rax", "add 8(%%rbx), %%rcx", "add 16(%%rbx), %%rdx",
      "add 24(%%rbx), %%r8", "rax", "rbx", "rcx", "rdx", "r8")
LOOP(jumps, "", "jmp 2f\nnop\n2:", "rax")

/* A random cycle through all lines of `bytes`. */
static void chase(uint64_t n, uint64_t bytes) {
  void* at = memory;
  (void)bytes;
  for (uint64_t i = 0; i < n; i++) __asm__ volatile(X16("mov (%0), %0\n") : "+r"(at)::"memory");
  sink += (uint64_t)at;
}

static void thread_lines(uint64_t bytes) {
  const uint64_t lines = bytes / LINE;
  uint32_t* order = malloc(lines * sizeof *order);
  uint64_t state = 1;
  for (uint64_t i = 0; i < lines; i++) order[i] = (uint32_t)i;
  for (uint64_t i = lines - 1; i > 0; i--) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t k = (state >> 33) % (i + 1);
    const uint32_t t = order[i];
    order[i] = order[k];
    order[k] = t;
  }
  for (uint64_t i = 0; i < lines; i++)
    *(void**)(memory + (uint64_t)order[i] * LINE) = memory + (uint64_t)order[(i + 1) % lines] * LINE;
  free(order);
}

/* Independent loads all over `bytes`. */
static void scatter(uint64_t n, uint64_t bytes) {
  uint64_t at = 1, sum = 0;
  for (uint64_t i = 0; i < n * UNROLLED; i++) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    sum += *(volatile uint64_t*)(memory + (at >> 32 & (bytes / LINE - 1)) * LINE);
  }
  sink += sum;
}

/* One word of each line after the other. */
static void stream(uint64_t n, uint64_t bytes) {
  uint64_t sum = 0, at = 0;
  for (uint64_t i = 0; i < n * UNROLLED; i++) {
    sum += *(volatile uint64_t*)(memory + at);
    at = (at + LINE) & (bytes - 1);
  }
  sink += sum;
}

/* A branch on a bit of the table: `bytes` of it, random, or one in four not taken. */
static void branches(uint64_t n, uint64_t bytes) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n * UNROLLED; i++) {
    __asm__ volatile("testb $1, (%1)\njz 1f\nadd $1, %0\n1:" : "+r"(sum) : "r"(memory + (i & (bytes - 1))) : "cc");
  }
  sink += sum;
}

static void fill_random(uint64_t bytes) {
  uint64_t state = 1;
  for (uint64_t i = 0; i < bytes; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    memory[i] = (char)(state >> 40);
  }
}
static void fill_pattern(uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; i++) memory[i] = i % 4 == 0;
}

static const struct kernel {
  const char* name;
  void (*run)(uint64_t n, uint64_t bytes);
  uint64_t bytes;
  void (*prepare)(uint64_t bytes);
  uint64_t rounds; /* of a timing */
} kernels[] = {
    {"add_chain", add_chain, 0, NULL, 20000},
    {"multiply_chain", multiply_chain, 0, NULL, 10000},
    {"move_chain", move_chain, 0, NULL, 20000},
    {"multiply_add_chain", multiply_add_chain, 0, NULL, 6000},
    {"divide_32_chain", divide_32_chain, 0, NULL, 3000},
    {"divide_64_chain", divide_64_chain, 0, NULL, 3000},
    {"float_add_chain", float_add_chain, 0, NULL, 10000},
    {"float_multiply_chain", float_multiply_chain, 0, NULL, 10000},
    {"fma_chain", fma_chain, 0, NULL, 10000},
    {"float_divide_chain", float_divide_chain, 0, NULL, 3000},
    {"float_root_chain", float_root_chain, 0, NULL, 2000},
    {"convert_chain", convert_chain, 0, NULL, 5000},
    {"shuffle_chain", shuffle_chain, 0, NULL, 20000},
    {"vector_multiply_chain", vector_multiply_chain, 0, NULL, 5000},
    {"forward_chain", forward_chain, 0, NULL, 5000},
    {"adds", adds, 0, NULL, 40000},
    {"shifts", shifts, 0, NULL, 40000},
    {"multiplies", multiplies, 0, NULL, 20000},
    {"float_adds", float_adds, 0, NULL, 20000},
    {"fmas", fmas, 0, NULL, 20000},
    {"vector_adds", vector_adds, 0, NULL, 40000},
    {"float_divides", float_divides, 0, NULL, 5000},
    {"loads", loads, 0, NULL, 40000},
    {"stores", stores, 0, NULL, 20000},
    {"loads_and_adds", loads_and_adds, 0, NULL, 30000},
    {"jumps", jumps, 0, NULL, 10000},
    {"chase_16k", chase, 16 << 10, thread_lines, 5000},
    {"chase_256k", chase, 256 << 10, thread_lines, 2000},
    {"chase_4m", chase, 4 << 20, thread_lines, 8000},
    {"chase_256m", chase, 1 << 28, thread_lines, 20000},
    {"scatter_256k", scatter, 256 << 10, NULL, 5000},
    {"scatter_4m", scatter, 4 << 20, NULL, 10000},
    {"scatter_256m", scatter, 1 << 28, NULL, 20000},
    {"stream_256k", stream, 256 << 10, NULL, 5000},
    {"stream_256m", stream, 1 << 28, NULL, 50000},
    {"branches_pattern", branches, 1 << 12, fill_pattern, 10000},
    {"branches_random", branches, 1 << 20, fill_random, 20000},
};
enum { N_KERNELS = sizeof kernels / sizeof *kernels, ROUNDS = 15 };

static const struct kernel* find(const char* name) {
  for (int i = 0; i < N_KERNELS; i++)
    if (!strcmp(kernels[i].name, name)) return &kernels[i];
  fprintf(stderr, "no kernel %s\n", name);
  exit(2);
}

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double iteration_s(const struct kernel* k) {
  const double began = now_s();
  k->run(k->rounds, k->bytes);
  return (now_s() - began) / (double)(k->rounds * UNROLLED);
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* The memory of a kernel: its own, or what is in a file. */
static void map_memory(const char* path) {
  const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (path && file < 0) {
    perror(path);
    exit(1);
  }
  const int flags = MAP_PRIVATE | MAP_NORESERVE | (path ? 0 : MAP_ANONYMOUS);
  /* the file holds addresses */
  memory = mmap((void*)HERE, PAGES, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, file, 0);
  if (memory == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
}

static void prepare(const struct kernel* k) {
  if (k->bytes) memset(memory, 0, k->bytes);
  if (k->prepare) k->prepare(k->bytes);
}

static int write_memory(const char* path, uint64_t bytes) {
  FILE* to = fopen(path, "w");
  const int bad = !to || fwrite(memory, 1, bytes, to) != bytes || fclose(to) || truncate(path, PAGES);
  if (bad) perror(path);
  return bad;
}

int main(int argc, char** argv) {
  if (argc == 2 && !strcmp(argv[1], "list")) {
    for (int i = 0; i < N_KERNELS; i++) {
      const bool wide = kernels[i].run == fma_chain || kernels[i].run == fmas || kernels[i].run == float_adds ||
                        kernels[i].run == vector_adds || kernels[i].run == float_divides;
      if (!wide || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) puts(kernels[i].name);
    }
  } else if (argc == 2 && !strcmp(argv[1], "add")) {
    double least = 1;
    for (int round = 0; round < 10 * ROUNDS; round++) {
      const double own = iteration_s(&kernels[0]);
      least = own < least ? own : least;
    }
    printf("%.5f\n", 1e9 * least);
  } else if (argc == 4 && !strcmp(argv[1], "prepare")) {
    map_memory(NULL);
    prepare(find(argv[2]));
    return write_memory(argv[3], find(argv[2])->bytes);
  } else if (argc == 5 && !strcmp(argv[1], "run")) {
    map_memory(argv[4]);
    find(argv[2])->run(strtoull(argv[3], NULL, 10), find(argv[2])->bytes);
  } else if (argc > 2 && !strcmp(argv[1], "time")) {
    map_memory(NULL);
    for (int i = 2; i < argc; i++) {
      const struct kernel* k = find(argv[i]);
      prepare(k);
      double ratios[ROUNDS];
      for (int round = 0; round < ROUNDS; round++) {
        /* the lesser of two adds: an interruption of it would make the ratio too small */
        const double before = iteration_s(&kernels[0]), own = iteration_s(k), after = iteration_s(&kernels[0]);
        ratios[round] = own / (before < after ? before : after);
      }
      qsort(ratios, ROUNDS, sizeof *ratios, compare);
      printf("%s %.4f %.4f\n", k->name, ratios[ROUNDS / 4], ratios[ROUNDS / 2]);
      fflush(stdout);
    }
  } else {
    fputs("usage: kernels list|add|time NAME...|prepare NAME FILE|run NAME COUNT FILE\n", stderr);
    return 2;
  }
  return (int)(sink & 0);
}
#endif
