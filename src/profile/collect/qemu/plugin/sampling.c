/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "sampling.h"

#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "phases.h"
#include "reset.h"
#include "trace.h"

enum {
  RETRANSLATION_NS = 1500, /* an instruction, about */
  SIMULATION_NS = 12,      /* likewise */
  WARM_UP_PART = 4,        /* of a window's length */
  LOOK_NS = 1000000,
  TICK_NS = 1000000,        /* of CPU time; the kernel makes it 4 ms where it counts so */
  LOOK_PART = 50,           /* at most one in fifty parts of the time looks */
  LOOK_EVERY = 200000,      /* instructions of a thread, where there are several */
  TRY_AGAIN = 100000,       /* instructions */
  FIRST_OF_CHILD = 10000000 /* instructions before the window of a child that was forked in a plain phase */
};
static const uint64_t GUEST_END = 0x500000000000;
static const double FIRST_RATE = 0.3 /* instructions a nanosecond */, AT_FIRST_SHARE = 3;

static bool (*change_all)(void);

static uint64_t now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void add(struct pq_tally* to, const struct pq_tally* a, const struct pq_tally* minus) {
  uint64_t* sum = (uint64_t*)to;
  const uint64_t *x = (const uint64_t*)a, *y = (const uint64_t*)minus;
  for (size_t i = 0; i < sizeof *to / sizeof *sum; i++) sum[i] += x[i] - y[i];
}

static void read_now(const struct pq_vcpu* v, struct pq_tally* t) {
  t->mem = v->mem.counts;
  t->branches = v->predictors->counts;
  t->passed = v->passed;
}

static void add_weighted(double* to, const struct pq_tally* a, const struct pq_tally* minus, double weight) {
  const uint64_t *x = (const uint64_t*)a, *y = (const uint64_t*)minus;
  for (size_t i = 0; i < PQ_TALLY_FIELDS; i++) to[i] += weight * (double)(x[i] - y[i]);
}

/* Instructions of plain phases so far, but for repeated string instructions. */
static double plain_instructions(void) {
  double sum = 0;
  for (uint32_t id = 0, n = pq_block_total(); id < n; id++) {
    const struct pq_block* b = pq_block_at(id);
    sum += (double)b->plain * b->n_insns;
  }
  for (unsigned i = 0; i < PQ_MAX_VCPUS && pq_vcpus[i]; i++) sum += (double)pq_vcpus[i]->plain;
  return sum;
}

/* A window stands for the plain phase before it. */
static double window_weight(void) {
  const double stands_for = pq_sampling.plain_now - pq_sampling.plain_before;
  uint64_t seen = 0;
  for (unsigned i = 0; i < PQ_MAX_VCPUS && pq_vcpus[i]; i++)
    seen += pq_vcpus[i]->passed.instructions - pq_vcpus[i]->mark.passed.instructions;
  return seen && stands_for > 0 ? stands_for / (double)seen : 1;
}

static void book_to(const struct pq_vcpu* v, const struct pq_tally* now, double weight, struct pq_tally* first,
                    double windows[PQ_REPLICATES][PQ_TALLY_FIELDS]) {
  if (pq_sampling.phase == PQ_FIRST) add(first, now, &v->mark);
  if (pq_sampling.phase == PQ_WINDOW)
    add_weighted(windows[(pq_sampling.windows - 1) % PQ_REPLICATES], now, &v->mark, weight);
}

/* Books what was counted since the last time. */
static void book_all(void) {
  const double weight = window_weight();
  if (pq_phases.on) pq_phases_simulated();
  for (unsigned i = 0; i < PQ_MAX_VCPUS && pq_vcpus[i]; i++) {
    struct pq_vcpu* v = pq_vcpus[i];
    struct pq_tally now;
    if (!v->predictors) continue;
    read_now(v, &now);
    book_to(v, &now, weight, &v->first, v->windows);
    if (pq_sampling.phase != PQ_WARM_UP) pq_sampling.seen += now.passed.instructions - v->mark.passed.instructions;
    v->mark = now;
  }
}

void pq_tallies(const struct pq_vcpu* v, struct pq_tally* first, double windows[PQ_REPLICATES][PQ_TALLY_FIELDS]) {
  struct pq_tally now;
  *first = v->first;
  memcpy(windows, v->windows, sizeof v->windows);
  read_now(v, &now);
  book_to(v, &now, window_weight(), first, windows);
}

void pq_sampling_open(bool (*change)(void)) {
  change_all = change;
  pq_sampling.random = pq_sampling.seed;
  pq_sampling.entered_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Where much code has to be translated again for each window, windows are longer. */
static uint64_t length_of(enum pq_phase phase) {
  if (pq_sampling.stays) return UINT64_MAX / 2;
  if (phase == PQ_FIRST) return pq_sampling.first;
  uint64_t longer = pq_sampling.retranslation_ns / SIMULATION_NS, window = pq_sampling.window;
  if (longer > window) window = longer;
  return phase == PQ_WARM_UP ? window / WARM_UP_PART : window;
}

void pq_sampling_start(struct pq_vcpu* v) {
  v->due = pq_sampling.on && pq_simulates() ? v->passed.instructions + length_of(pq_sampling.phase) : UINT64_MAX;
  pq_trace_phase(v);
}

static void start_all(void) {
  for (unsigned i = 0; i < PQ_MAX_VCPUS && pq_vcpus[i]; i++) {
    struct pq_vcpu* v = pq_vcpus[i];
    pq_sampling_start(v);
    if (v->predictors && pq_sampling.phase != PQ_FIRST)
      pq_branch_simulate_all(v->predictors, pq_sampling.phase == PQ_WARM_UP);
  }
}

/* Windows are drawn by instructions: drawn by time, slow code would have more than
 * its share of them. Nobody counts instructions as they run, they are added up now
 * and then, at a small part of the time. */
static void ask_for_window(void) {
  if (pq_sampling.phase != PQ_PLAIN || pq_sampling.stays || isinf(pq_sampling.due_instructions)) return;
  const uint64_t now = now_ns(CLOCK_MONOTONIC);
  if (now < pq_sampling.look_ns) return;
  const uint64_t began = now_ns(CLOCK_THREAD_CPUTIME_ID); /* others may run in between */
  const double instructions = plain_instructions();
  const uint64_t took = now_ns(CLOCK_THREAD_CPUTIME_ID) - began;
  pq_sampling.look_ns = now + (took * LOOK_PART > LOOK_NS ? took * LOOK_PART : LOOK_NS);
  if (instructions < pq_sampling.due_instructions) return;
  if (change_all()) pq_sampling.due_instructions = INFINITY; /* once: the change comes a little later */
}

/* ---- the timer ---- */

/* A timer on the thread's CPU time interrupts it: one that sleeps is left alone, and
 * a loop of any few blocks is interrupted as others are. A change may be asked for
 * only in translated code: elsewhere QEMU may hold the locks that it takes. All other
 * code lies where the loader put it. */
enum { MOST_SEGMENTS = 256 };

/* The guest must not be able to give the signal another action: glibc's posix_spawn, for one, gives all signals their
 * defaults before the exec. QEMU maps the guest's signals to all of the host's that glibc lets it have. What is left is
 * one that glibc keeps for pthread_cancel, which QEMU doesn't call: glibc's own functions refuse it, the kernel takes
 * it, and nobody blocks it. */
enum { TICK_SIGNAL = 32, HAS_RESTORER = 0x04000000 };

struct kernel_action { /* of rt_sigaction, on x86-64 and AArch64 */
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
};

static struct { uintptr_t from, to; } segments[MOST_SEGMENTS];
static unsigned n_segments;

static int note_segments(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size, (void)data;
  for (unsigned i = 0; i < info->dlpi_phnum && n_segments < MOST_SEGMENTS; i++) {
    const ElfW(Phdr)* p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
    segments[n_segments].from = info->dlpi_addr + p->p_vaddr;
    segments[n_segments++].to = info->dlpi_addr + p->p_vaddr + p->p_memsz;
  }
  return 0;
}

static uintptr_t interrupted_at(const ucontext_t* context) {
#if defined(__x86_64__)
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uintptr_t)context->uc_mcontext.pc;
#else
#error "where does this processor keep its program counter?"
#endif
}

static void on_tick(int number, siginfo_t* info, void* context) {
  (void)number, (void)info;
  const int before = errno;
  if (pq_phases.on) pq_phases_look();
  errno = before;
  /* With several threads pq_sampling_look() asks. */
  if (pq_vcpus[1]) return;
  const uintptr_t pc = interrupted_at(context);
  for (unsigned i = 0; i < n_segments; i++)
    if (pc >= segments[i].from && pc < segments[i].to) return;
  const int error = errno;
  ask_for_window();
  errno = error;
}

/* How a handler returns is glibc's to know: as that of QEMU's own does. */
static bool handle_ticks(void) {
  struct kernel_action action;
  if (syscall(SYS_rt_sigaction, SIGSEGV, NULL, &action, sizeof action.mask)) return false;
  action.handler = on_tick;
  action.flags = (action.flags & HAS_RESTORER) | SA_SIGINFO | SA_RESTART;
  action.mask = ~(uint64_t)0;
  return !syscall(SYS_rt_sigaction, TICK_SIGNAL, &action, NULL, sizeof action.mask);
}

/* Of this thread, the only one. Timers don't survive a fork. */
static void start_ticking(void) {
  static pid_t owner;
  if (owner == getpid()) return;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TICK_SIGNAL};
  const struct itimerspec every = {{0, TICK_NS}, {0, TICK_NS}};
  timer_t timer;
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  if (!n_segments) dl_iterate_phdr(note_segments, NULL);
  if (!handle_ticks() || timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) || timer_settime(timer, 0, &every, NULL))
    fprintf(stderr, "perfcast plugin: no timer: what comes now is not sampled\n");
  owner = getpid();
}

void pq_sampling_tick(void) {
  static bool asked;
  if (!asked) start_ticking();
  asked = true;
}

static void begin_counting(void) {
  book_all();
  pq_trace_stop();
  pq_sampling.phase = PQ_WINDOW;
  const double paused = pq_sampling.plain_now - pq_sampling.plain_before;
  pq_trace_window(paused > 1 ? (uint64_t)paused : 1);
  start_all();
}

void pq_phase_is_over(struct pq_vcpu* v) {
  v->due = UINT64_MAX;
  if (pq_sampling.phase == PQ_WARM_UP && !pq_vcpus[1])
    begin_counting();     /* the code stays as it is */
  else if (!change_all()) /* also then with several threads: it stops them */
    v->due = v->passed.instructions + TRY_AGAIN;
}

/* Memory of the guest: QEMU puts it below its own. */
static void look_at_memory(void) {
  FILE* f = fopen("/proc/self/smaps", "re");
  char line[256];
  uint64_t start = 0, end, kib, sum_kib = 0, size_kib = 0;
  if (!f) return;
  while (fgets(line, sizeof line, f)) {
    uint64_t from;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &from, &end) == 2)
      start = from;
    else if (start < GUEST_END && sscanf(line, "Rss: %" SCNu64, &kib) == 1)
      sum_kib += kib;
    else if (start < GUEST_END && sscanf(line, "Size: %" SCNu64, &kib) == 1)
      size_kib += kib;
  }
  fclose(f);
  if (size_kib) pq_sampling.resident_share = (double)sum_kib / (double)size_kib;
  if (sum_kib * 1024 > pq_sampling.resident_bytes) pq_sampling.resident_bytes = sum_kib * 1024;
}

/* The mean of the next plain phase. */
static double next_pause(void) {
  /* at first more windows: a short program has few else */
  const double share = pq_sampling.cost_ns < pq_sampling.at_first_ms * 1000000 ? AT_FIRST_SHARE : pq_sampling.share;
  const double pause_ns = (double)pq_sampling.last_cost_ns / share;
  const double rate = pq_sampling.plain_ns ? pq_sampling.plain_now / (double)pq_sampling.plain_ns : FIRST_RATE;
  return pause_ns * rate;
}

static void begin_plain(uint64_t now) {
  /* both changes made the code that was in use be translated again */
  pq_sampling.retranslation_ns = pq_sampling.translated_again * RETRANSLATION_NS;
  pq_sampling.translated_again = 0;
  pq_sampling.last_cost_ns = now - pq_sampling.entered_ns + pq_sampling.retranslation_ns;
  pq_sampling.cost_ns += pq_sampling.last_cost_ns;
  pq_sampling.phase = PQ_PLAIN;
  start_ticking();
  pq_sampling.due_instructions =
      pq_sampling.plain_now + next_pause() * (0.5 + (double)(pq_random(&pq_sampling.random) >> 11) * 0x1p-53);
}

static void begin_window(uint64_t now) {
  look_at_memory();
  pq_sampling.phase = PQ_WARM_UP;
  pq_sampling.windows++;
  pq_sampling.plain_before = pq_sampling.plain_now;
  pq_sampling.plain_now = plain_instructions();
  pq_sampling.plain_ns += now - pq_sampling.entered_ns;
}

void pq_phase_change(void) {
  pq_trace_stop();
  const uint64_t now = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  book_all();
  for (unsigned i = 0; i < PQ_MAX_VCPUS && pq_vcpus[i]; i++)
    pq_vcpus[i]->previous = NULL; /* plain phases don't follow it */
  if (pq_sampling.phase == PQ_WARM_UP) {
    begin_counting();
    return;
  }
  if (pq_sampling.phase == PQ_PLAIN)
    begin_window(now);
  else
    begin_plain(now);
  pq_sampling.entered_ns = now;
  start_all();
}

void pq_sampling_threads(void) {
  if (pq_reset_bears_threads()) return;
  pq_sampling.stays = true;
  pq_sampling.due_instructions = INFINITY;
  if (pq_sampling.phase == PQ_WARM_UP) pq_sampling.phase = PQ_WINDOW;
  for (unsigned i = 0; i < PQ_MAX_VCPUS && pq_vcpus[i]; i++) pq_vcpus[i]->due = UINT64_MAX;
}

void pq_sampling_look(struct pq_vcpu* v) {
  v->look_due = v->plain + LOOK_EVERY;
  if (pq_phases.on) pq_phases_look();
  ask_for_window();
}

void pq_sampling_forked(void) {
  pq_trace_forked();
  pq_sampling.stays = false; /* the child has one thread */
  pq_sampling.windows = pq_sampling.phase == PQ_WARM_UP || pq_sampling.phase == PQ_WINDOW; /* it goes on */
  pq_sampling.seen = 0;
  pq_sampling.plain_before = pq_sampling.plain_now = 0;
  if (pq_sampling.phase == PQ_PLAIN) {
    pq_sampling.due_instructions = FIRST_OF_CHILD;
    start_ticking();
  } else if (pq_phases.on) {
    start_ticking();
  }
  for (unsigned i = 0; i < PQ_MAX_VCPUS && pq_vcpus[i]; i++) {
    struct pq_vcpu* v = pq_vcpus[i];
    memset(&v->passed, 0, sizeof v->passed);
    memset(&v->first, 0, sizeof v->first);
    memset(v->windows, 0, sizeof v->windows);
    memset(&v->mark, 0, sizeof v->mark);
    memset(&v->strings, 0, sizeof v->strings);
    v->plain = v->look_due = 0;
  }
  start_all();
}
