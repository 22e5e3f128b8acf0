/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls.h"

#include <string.h>

enum { MAX_NUMBER = 512 };

struct entry {
  int16_t x86_64, aarch64; /* -1: not there */
  uint8_t kind;
  uint16_t flags;
};

#define F PQ_SYS_FILE
#define M PQ_SYS_MEMORY
#define P PQ_SYS_PROCESS
#define S PQ_SYS_SIGNAL
#define T PQ_SYS_TIME
#define C PQ_SYS_SCHED
#define N PQ_SYS_NET
#define I PQ_SYS_IPC
static const struct entry entries[] = {
    {0, 63, F, PQ_SYSF_READ},
    {1, 64, F, PQ_SYSF_WRITE},
    {2, -1, F, PQ_SYSF_OPEN},
    {3, 57, F, 0},
    {4, -1, F, 0},
    {5, 80, F, 0},
    {6, -1, F, 0},
    {8, 62, F, 0},
    {16, 29, F, 0},
    {17, 67, F, PQ_SYSF_READ},
    {18, 68, F, PQ_SYSF_WRITE},
    {19, 65, F, PQ_SYSF_READ},
    {20, 66, F, PQ_SYSF_WRITE},
    {21, -1, F, 0},
    {32, 23, F, 0},
    {33, -1, F, 0},
    {40, 71, F, PQ_SYSF_READ | PQ_SYSF_WRITE},
    {72, 25, F, 0},
    {73, 32, F, 0},
    {74, 82, F, 0},
    {75, 83, F, 0},
    {76, 45, F, 0},
    {77, 46, F, 0},
    {78, -1, F, 0},
    {79, 17, F, 0},
    {80, 49, F, 0},
    {81, 50, F, 0},
    {82, -1, F, 0},
    {83, -1, F, 0},
    {84, -1, F, 0},
    {85, -1, F, PQ_SYSF_OPEN},
    {86, -1, F, 0},
    {87, -1, F, 0},
    {88, -1, F, 0},
    {89, -1, F, 0},
    {90, -1, F, 0},
    {91, 52, F, 0},
    {92, -1, F, 0},
    {93, 55, F, 0},
    {95, 166, F, 0},
    {132, -1, F, 0},
    {137, 43, F, 0},
    {138, 44, F, 0},
    {161, 51, F, 0},
    {162, 81, F, 0},
    {187, 213, F, 0},
    {188, 5, F, 0},
    {189, 6, F, 0},
    {190, 7, F, 0},
    {191, 8, F, 0},
    {192, 9, F, 0},
    {217, 61, F, 0},
    {221, 223, F, 0},
    {257, 56, F, PQ_SYSF_OPEN},
    {258, 34, F, 0},
    {260, 54, F, 0},
    {262, 79, F, 0},
    {263, 35, F, 0},
    {264, 38, F, 0},
    {265, 37, F, 0},
    {266, 36, F, 0},
    {267, 78, F, 0},
    {268, 53, F, 0},
    {269, 48, F, 0},
    {275, 76, F, 0},
    {277, 84, F, 0},
    {280, 88, F, 0},
    {285, 47, F, 0},
    {292, 24, F, 0},
    {295, 69, F, PQ_SYSF_READ},
    {296, 70, F, PQ_SYSF_WRITE},
    {306, 267, F, 0},
    {316, 276, F, 0},
    {319, 279, F, 0},
    {326, 285, F, PQ_SYSF_READ | PQ_SYSF_WRITE},
    {327, 286, F, PQ_SYSF_READ},
    {328, 287, F, PQ_SYSF_WRITE},
    {332, 291, F, 0},
    {437, 437, F, PQ_SYSF_OPEN},
    {439, 439, F, 0},
    {253, -1, F, 0},
    {254, 27, F, 0},
    {294, 26, F, 0},
    {436, 436, F, 0},
    {425, 425, F, 0},
    {426, 426, F, 0},
    {206, 0, F, 0},
    {209, 2, F, 0},
    {208, 4, F, 0},
    {9, 222, M, 0},
    {10, 226, M, 0},
    {11, 215, M, 0},
    {12, 214, M, 0},
    {25, 216, M, 0},
    {26, 227, M, 0},
    {27, 232, M, 0},
    {28, 233, M, 0},
    {149, 228, M, 0},
    {150, 229, M, 0},
    {151, 230, M, 0},
    {237, 235, M, 0},
    {238, 237, M, 0},
    {239, 236, M, 0},
    {325, 284, M, 0},
    {329, 288, M, 0},
    {56, 220, P, PQ_SYSF_FORK},
    {57, -1, P, PQ_SYSF_FORK},
    {58, -1, P, PQ_SYSF_FORK},
    {435, 435, P, 0},
    {59, 221, P, PQ_SYSF_EXEC},
    {322, 281, P, PQ_SYSF_EXEC},
    {60, 93, P, 0},
    {61, 260, P, 0},
    {231, 94, P, 0},
    {247, 95, P, 0},
    {39, 172, P, 0},
    {110, 173, P, 0},
    {186, 178, P, 0},
    {102, 174, P, 0},
    {104, 176, P, 0},
    {107, 175, P, 0},
    {108, 177, P, 0},
    {97, 163, P, 0},
    {98, 165, P, 0},
    {302, 261, P, 0},
    {157, 167, P, 0},
    {158, -1, P, 0},
    {218, 96, P, 0},
    {273, 99, P, 0},
    {334, 293, P, 0},
    {109, 154, P, 0},
    {112, 157, P, 0},
    {111, -1, P, 0},
    {121, 155, P, 0},
    {124, 156, P, 0},
    {160, 164, P, 0},
    {272, 97, P, 0},
    {308, 268, P, 0},
    {434, 434, P, 0},
    {13, 134, S, 0},
    {14, 135, S, 0},
    {15, 139, S, 0},
    {34, -1, S, 0},
    {62, 129, S, 0},
    {127, 136, S, 0},
    {128, 137, S, PQ_SYSF_SLEEP},
    {129, 138, S, 0},
    {130, 133, S, 0},
    {131, 132, S, 0},
    {200, 130, S, 0},
    {234, 131, S, 0},
    {282, -1, S, 0},
    {289, 74, S, 0},
    {297, 240, S, 0},
    {35, 101, T, PQ_SYSF_SLEEP},
    {230, 115, T, PQ_SYSF_SLEEP},
    {36, 102, T, 0},
    {37, -1, T, PQ_SYSF_TIMER},
    {38, 103, T, PQ_SYSF_TIMER},
    {96, 169, T, 0},
    {100, 153, T, 0},
    {201, -1, T, 0},
    {222, 107, T, 0},
    {223, 110, T, PQ_SYSF_TIMER},
    {224, 108, T, 0},
    {225, 109, T, 0},
    {226, 111, T, 0},
    {227, 112, T, 0},
    {228, 113, T, 0},
    {229, 114, T, 0},
    {283, 85, T, 0},
    {286, 86, T, PQ_SYSF_TIMER},
    {287, 87, T, 0},
    {159, 171, T, 0},
    {305, 266, T, 0},
    {24, 124, C, PQ_SYSF_YIELD},
    {140, 141, C, 0},
    {141, 140, C, 0},
    {142, 118, C, 0},
    {143, 121, C, 0},
    {144, 119, C, 0},
    {145, 120, C, 0},
    {146, 125, C, 0},
    {147, 126, C, 0},
    {148, 127, C, 0},
    {203, 122, C, 0},
    {204, 123, C, 0},
    {309, 168, C, 0},
    {314, 274, C, 0},
    {315, 275, C, 0},
    {202, 98, PQ_SYS_FUTEX, 0},
    {22, -1, PQ_SYS_PIPE, 0},
    {293, 59, PQ_SYS_PIPE, 0},
    {284, -1, PQ_SYS_PIPE, 0},
    {290, 19, PQ_SYS_PIPE, 0},
    {276, 77, PQ_SYS_PIPE, 0},
    {278, 75, PQ_SYS_PIPE, 0},
    {7, -1, PQ_SYS_POLL, PQ_SYSF_WAIT},
    {23, -1, PQ_SYS_POLL, PQ_SYSF_WAIT},
    {270, 72, PQ_SYS_POLL, PQ_SYSF_WAIT},
    {271, 73, PQ_SYS_POLL, PQ_SYSF_WAIT},
    {232, -1, PQ_SYS_POLL, PQ_SYSF_WAIT},
    {281, 22, PQ_SYS_POLL, PQ_SYSF_WAIT},
    {441, 441, PQ_SYS_POLL, PQ_SYSF_WAIT},
    {213, -1, PQ_SYS_POLL, 0},
    {233, 21, PQ_SYS_POLL, 0},
    {291, 20, PQ_SYS_POLL, 0},
    {41, 198, N, 0},
    {42, 203, N, 0},
    {43, 202, N, 0},
    {44, 206, N, PQ_SYSF_WRITE},
    {45, 207, N, PQ_SYSF_READ},
    {46, 211, N, PQ_SYSF_WRITE},
    {47, 212, N, PQ_SYSF_READ},
    {48, 210, N, 0},
    {49, 200, N, 0},
    {50, 201, N, 0},
    {51, 204, N, 0},
    {52, 205, N, 0},
    {53, 199, N, 0},
    {54, 208, N, 0},
    {55, 209, N, 0},
    {288, 242, N, 0},
    {299, 243, N, 0},
    {307, 269, N, 0},
    {29, 194, I, 0},
    {30, 196, I, 0},
    {31, 195, I, 0},
    {64, 190, I, 0},
    {65, 193, I, 0},
    {66, 191, I, 0},
    {67, 197, I, 0},
    {68, 186, I, 0},
    {69, 189, I, 0},
    {70, 188, I, 0},
    {71, 187, I, 0},
    {220, 192, I, 0},
    {240, 180, I, 0},
    {241, 181, I, 0},
    {242, 182, I, 0},
    {243, 183, I, 0},
    {244, 184, I, 0},
    {245, 185, I, 0},
};

static struct {
  uint8_t kind;
  uint16_t flags;
} table[MAX_NUMBER];
static enum pq_arch arch;

void pq_syscalls_open(enum pq_arch a) {
  arch = a;
  for (unsigned i = 0; i < MAX_NUMBER; i++) table[i].kind = PQ_SYS_OTHER;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    int number = a == PQ_X86_64 ? entries[i].x86_64 : entries[i].aarch64;
    if (number < 0) continue;
    table[number].kind = entries[i].kind;
    table[number].flags = entries[i].flags;
  }
}

static unsigned flags_of(int64_t number) { return number >= 0 && number < MAX_NUMBER ? table[number].flags : 0; }

/* Would this poll, select or epoll call wait for a limited time? */
static bool has_timeout(int64_t number, const uint64_t args[6]) {
  enum { X_POLL = 7, X_SELECT = 23, X_PSELECT = 270, X_PPOLL = 271, X_EPOLL = 232, X_EPOLL_P = 281 };
  enum { A_PSELECT = 72, A_PPOLL = 73, A_EPOLL_P = 22 };
  if (arch == PQ_X86_64) {
    switch (number) {
      case X_POLL:
        return (int32_t)args[2] > 0;
      case X_SELECT:
      case X_PSELECT:
        return args[4] != 0;
      case X_PPOLL:
        return args[2] != 0;
      case X_EPOLL:
      case X_EPOLL_P:
        return (int32_t)args[3] > 0;
      default:
        return args[3] != 0; /* epoll_pwait2 */
    }
  }
  switch (number) {
    case A_PSELECT:
      return args[4] != 0;
    case A_PPOLL:
      return args[2] != 0;
    case A_EPOLL_P:
      return (int32_t)args[3] > 0;
    default:
      return args[3] != 0;
  }
}

/* clone makes threads too; clone3 is unknown to QEMU 7.2, callers fall back. */
static bool is_fork(int64_t number, unsigned flags, const uint64_t args[6]) {
  const uint64_t clone_thread = 0x10000;
  bool is_clone = number == (arch == PQ_X86_64 ? 56 : 220);
  return (flags & PQ_SYSF_FORK) && !(is_clone && (args[0] & clone_thread));
}

static int64_t map_call(void) { return arch == PQ_X86_64 ? 9 : 222; }
static int64_t heap_call(void) { return arch == PQ_X86_64 ? 12 : 214; }

void pq_syscall_enter(struct pq_syscall_counts* c, int64_t number, const uint64_t args[6]) {
  unsigned flags = flags_of(number);
  c->total++;
  c->kind[number >= 0 && number < MAX_NUMBER ? table[number].kind : PQ_SYS_OTHER]++;
  c->sleeps += (flags & PQ_SYSF_SLEEP) != 0;
  c->timers += (flags & PQ_SYSF_TIMER) != 0;
  c->yields += (flags & PQ_SYSF_YIELD) != 0;
  c->forks += is_fork(number, flags, args);
  c->execs += (flags & PQ_SYSF_EXEC) != 0;
  if (flags & PQ_SYSF_WAIT && has_timeout(number, args)) c->waits++;
  if (number == map_call()) c->asked_bytes = args[3] & 0x20 ? args[1] : 0; /* anonymous memory only */
}

void pq_syscall_return(struct pq_syscall_counts* c, int64_t number, int64_t result) {
  if (result < 0) {
    c->failed += result >= -4095;
    return;
  }
  if (number == map_call()) c->mapped_bytes += c->asked_bytes;
  if (number == heap_call()) {
    if (c->end_of_heap && (uint64_t)result > c->end_of_heap) c->mapped_bytes += (uint64_t)result - c->end_of_heap;
    c->end_of_heap = (uint64_t)result;
  }
  unsigned flags = flags_of(number);
  if (flags & PQ_SYSF_READ) c->bytes_read += (uint64_t)result;
  if (flags & PQ_SYSF_WRITE) c->bytes_written += (uint64_t)result;
  if (flags & PQ_SYSF_OPEN) c->files_opened++;
}

bool pq_syscall_is_exec(int64_t number) { return (flags_of(number) & PQ_SYSF_EXEC) != 0; }

bool pq_syscall_is_exec_at(int64_t number) { return number == (arch == PQ_X86_64 ? 322 : 281); }

bool pq_syscall_ends_thread(int64_t number) { return number == (arch == PQ_X86_64 ? 60 : 93); }

bool pq_syscall_ends_process(int64_t number) { return number == (arch == PQ_X86_64 ? 231 : 94); }
