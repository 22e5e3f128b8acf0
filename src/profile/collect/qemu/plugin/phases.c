/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "phases.h"

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "executed.h"
#include "sampling_state.h"

enum {
  FIRST_LENGTH = 1000000, /* instructions */
  LOOK_PART = 50,         /* at most one in fifty parts of the time looks */
  LEAST_APART_NS = 500000,
  PLACE_BITS = 8 /* code of a file is told apart by pieces of 256 bytes */
};

/* uint64_t throughout: intervals are added up as arrays. */
struct interval {
  uint64_t instructions, execs;
  uint64_t stat[PQ_N_STATS], self[PQ_N_SELF];
  uint64_t string_iterations, string_loads, string_stores, string_load_bytes, string_store_bytes;
  struct pq_syscall_counts syscalls;
  struct pq_tally seen;         /* by the simulation, where it counts */
  struct pq_mem_counts strings; /* by repeated string instructions while it does not */
  uint64_t code[PQ_CODE_PLACES];
};
enum { FIELDS = sizeof(struct interval) / sizeof(uint64_t) };

struct pq_phases pq_phases;

static const struct pq_run* of_run;
static struct interval *closed, open_one;
static unsigned n_closed;
static uint64_t length = FIRST_LENGTH;
static uint64_t look_ns, last_look_ns;
static struct pq_syscall_counts syscalls_before;
static struct pq_mem_counts strings_before;
/* Taken by a signal on any thread: nobody waits for it in one. */
static atomic_flag busy = ATOMIC_FLAG_INIT;

static uint64_t now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool pq_phases_open(const struct pq_run* run, unsigned most) {
  of_run = run;
  closed = calloc(most, sizeof *closed);
  if (!closed) return false;
  pq_phases = (struct pq_phases){.on = true, .most = most};
  return true;
}

/* FNV-1a of the path, and of the number of the piece in its file. The reader does the same with native samples. */
static unsigned place_of(const char* path, uint64_t offset) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *path; path++) hash = (hash ^ (unsigned char)*path) * 0x100000001b3u;
  offset >>= PLACE_BITS;
  for (unsigned i = 0; i < sizeof offset; i++, offset >>= 8) hash = (hash ^ (offset & 255)) * 0x100000001b3u;
  return (unsigned)((hash ^ hash >> 32) % (PQ_CODE_PLACES - 1)) + 1;
}

/* Place 0: code that lies in no file. */
void pq_phases_translated(struct pq_block* b) {
  uint64_t offset = 0;
  const char* path = pq_executed_place(b, &offset);
  b->phases.place = path && *path ? (uint16_t)place_of(path, offset) : 0;
}

static void add_block(struct pq_block* b) {
  const struct pq_executions ran = pq_executions_of(of_run, b);
  /* iterations of plain phases are estimates, which may fall */
  const uint64_t execs = ran.executions > b->phases.executions ? ran.executions - b->phases.executions : 0;
  const uint64_t again = ran.iterations > b->phases.iterations ? ran.iterations - b->phases.iterations : 0;
  if (!execs && !again) return;
  b->phases.executions += execs;
  b->phases.iterations += again;
  struct interval* to = &open_one;
  if (b->is_rep) {
    to->string_iterations += again;
    to->string_loads += again * b->rep_loads;
    to->string_stores += again * b->rep_stores;
    to->string_load_bytes += again * b->rep_loads * b->rep_size;
    to->string_store_bytes += again * b->rep_stores * b->rep_size;
  } else if (again) {
    for (unsigned i = 0; i < PQ_N_SELF; i++) to->self[i] += again * b->self[i];
  }
  to->execs += execs;
  to->instructions += execs * b->n_insns;
  to->code[b->phases.place] += execs * b->n_insns + again;
  for (unsigned i = 0; i < PQ_N_STATS; i++) to->stat[i] += execs * b->stat[i];
}

static void add_fields(uint64_t* to, const uint64_t* now, uint64_t* before, size_t n) {
  for (size_t i = 0; i < n; i++) {
    /* numbers that are set, not counted, may fall */
    if (now[i] > before[i]) to[i] += now[i] - before[i];
    before[i] = now[i];
  }
}

static void add_calls_and_strings(void) {
  struct pq_syscall_counts calls = {0};
  struct pq_mem_counts strings = {0};
  for (unsigned v = 0; v < of_run->n_vcpus; v++) {
    if (!pq_vcpus[v]) continue;
    const uint64_t *c = (const uint64_t*)&pq_vcpus[v]->syscalls, *s = (const uint64_t*)&pq_vcpus[v]->strings;
    for (size_t i = 0; i < sizeof calls / sizeof *c; i++) ((uint64_t*)&calls)[i] += c[i];
    for (size_t i = 0; i < sizeof strings / sizeof *s; i++) ((uint64_t*)&strings)[i] += s[i];
  }
  add_fields((uint64_t*)&open_one.syscalls, (const uint64_t*)&calls, (uint64_t*)&syscalls_before,
             sizeof calls / sizeof(uint64_t));
  if (pq_sampling.on)
    add_fields((uint64_t*)&open_one.strings, (const uint64_t*)&strings, (uint64_t*)&strings_before,
               sizeof strings / sizeof(uint64_t));
}

static void add_seen(void) {
  const bool counts = pq_sampling.phase == PQ_FIRST || pq_sampling.phase == PQ_WINDOW;
  for (unsigned i = 0; i < of_run->n_vcpus; i++) {
    struct pq_vcpu* v = pq_vcpus[i];
    if (!v || !v->predictors) continue;
    struct pq_tally now = {v->mem.counts, v->predictors->counts, v->passed};
    uint64_t *to = (uint64_t*)&open_one.seen, *before = (uint64_t*)&v->phases_mark;
    const uint64_t* x = (const uint64_t*)&now;
    for (size_t k = 0; k < PQ_TALLY_FIELDS; k++) {
      if (counts && x[k] > before[k]) to[k] += x[k] - before[k];
      before[k] = x[k];
    }
  }
}

static void merge_pairs(void) {
  for (unsigned i = 0; i + 1 < n_closed; i += 2) {
    struct interval* to = &closed[i / 2];
    if (i) memcpy(to, &closed[i], sizeof *to);
    for (size_t k = 0; k < FIELDS; k++) ((uint64_t*)to)[k] += ((const uint64_t*)&closed[i + 1])[k];
  }
  if (n_closed % 2) memcpy(&closed[n_closed / 2], &closed[n_closed - 1], sizeof *closed);
  n_closed = (n_closed + 1) / 2;
  length *= 2;
}

static void close_interval(void) {
  if (n_closed == pq_phases.most) merge_pairs();
  closed[n_closed++] = open_one;
  memset(&open_one, 0, sizeof open_one);
}

static void take(void) {
  for (uint32_t id = 0, n = pq_block_total(); id < n; id++) add_block(pq_block_at(id));
  add_calls_and_strings();
  add_seen();
}

void pq_phases_look(void) {
  const uint64_t now = now_ns(CLOCK_MONOTONIC);
  if (now < look_ns || atomic_flag_test_and_set(&busy)) return;
  const uint64_t began = now_ns(CLOCK_THREAD_CPUTIME_ID), before = open_one.instructions;
  take();
  /* when the interval may be full, at the present rate */
  uint64_t pause = LEAST_APART_NS;
  const uint64_t passed = open_one.instructions - before;
  if (open_one.instructions < length && last_look_ns && passed)
    pause = (uint64_t)((double)(length - open_one.instructions) / (double)passed * (double)(now - last_look_ns));
  if (open_one.instructions >= length) close_interval();
  const uint64_t took = now_ns(CLOCK_THREAD_CPUTIME_ID) - began; /* others may run in between */
  if (pause > length) pause = length; /* a nanosecond an instruction: what ran last may have been a system call */
  if (pause < LEAST_APART_NS) pause = LEAST_APART_NS;
  if (pause < took * LOOK_PART) pause = took * LOOK_PART;
  last_look_ns = now;
  look_ns = now + pause;
  atomic_flag_clear(&busy);
}

/* Holders of the flag run: this thread's own never come here from inside of it. */
static void wait_for_flag(void) {
  while (atomic_flag_test_and_set(&busy)) sched_yield();
}

void pq_phases_simulated(void) {
  wait_for_flag();
  add_seen();
  atomic_flag_clear(&busy);
}

void pq_phases_forked(void) {
  atomic_flag_clear(&busy);
  n_closed = 0;
  length = FIRST_LENGTH;
  look_ns = last_look_ns = 0;
  memset(&open_one, 0, sizeof open_one);
  memset(&syscalls_before, 0, sizeof syscalls_before);
  memset(&strings_before, 0, sizeof strings_before);
  for (uint32_t id = 0, n = pq_block_total(); id < n; id++) {
    pq_block_at(id)->phases.executions = 0;
    pq_block_at(id)->phases.iterations = 0;
  }
  for (unsigned i = 0; i < PQ_MAX_VCPUS && pq_vcpus[i]; i++)
    memset(&pq_vcpus[i]->phases_mark, 0, sizeof pq_vcpus[i]->phases_mark);
}

/* ---- the file ---- */

static uint64_t sum4(const uint64_t misses[2][2]) { return misses[0][0] + misses[0][1] + misses[1][0] + misses[1][1]; }

/* Of each size all misses, and those of loads that follow no stream. */
static void put_misses(FILE* f, const struct pq_mem_counts* m) {
  uint64_t all[PQ_N_L1 + PQ_N_LARGE], loads[PQ_N_L1 + PQ_N_LARGE], sum = 0, load = 0;
  for (int i = PQ_N_L1 - 1; i >= 0; i--) {
    all[i] = sum += sum4(m->l1[i]);
    loads[i] = load += m->l1[i][0][0];
  }
  sum = load = 0;
  for (int i = PQ_N_LARGE - 1; i >= 0; i--) {
    all[PQ_N_L1 + i] = sum += sum4(m->large[i + 1]);
    loads[PQ_N_L1 + i] = load += m->large[i + 1][0][0];
  }
  for (int i = 0; i < PQ_N_L1 + PQ_N_LARGE; i++) fprintf(f, " %" PRIu64 " %" PRIu64, all[i], loads[i]);
  fprintf(f, " %" PRIu64 " %" PRIu64 " %" PRIu64, m->tlb_miss, m->stlb_1536_miss, m->stlb_2048_miss);
}

static void put_interval(FILE* f, const struct interval* i) {
  fprintf(f, "interval %" PRIu64 " %" PRIu64, i->instructions, i->execs);
  for (unsigned k = 0; k < PQ_N_CLASSES; k++) fprintf(f, " %" PRIu64, i->stat[k]);
  for (unsigned k = PQ_SUMS_FIRST; k < PQ_N_STATS; k++) {
    uint64_t value = i->stat[k];
    if (k == PQ_S_LOAD_BYTES) value += i->string_load_bytes;
    if (k == PQ_S_STORE_BYTES) value += i->string_store_bytes;
    fprintf(f, " %" PRIu64, value);
  }
  for (unsigned k = 0; k < PQ_N_SELF; k++) fprintf(f, " %" PRIu64, i->self[k]);
  const uint64_t chain = i->stat[PQ_S_CRIT] + i->self[PQ_L_SELF_INC], path = i->self[PQ_L_SELF_PATH];
  fprintf(f, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, chain > path ? chain - path : 0, i->string_iterations,
          i->string_loads, i->string_stores);
  fprintf(f, " %" PRIu64 " %" PRIu64 " %" PRIu64, i->syscalls.total, i->syscalls.bytes_read, i->syscalls.bytes_written);
  for (unsigned k = 0; k < PQ_N_SYS; k++) fprintf(f, " %" PRIu64, i->syscalls.kind[k]);
  if (of_run->full) {
    const struct pq_branch_counts* b = &i->seen.branches;
    const struct pq_mem_counts* m = &i->seen.mem;
    fprintf(f, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, i->seen.passed.instructions, i->seen.passed.accesses,
            i->seen.passed.lines, i->seen.passed.conditional);
    put_misses(f, m);
    fprintf(f, " %" PRIu64 " %" PRIu64 " %" PRIu64, m->forwarded_loads, m->icache_32k_miss, m->icache_64k_miss);
    put_misses(f, &i->strings);
    fprintf(f, " %" PRIu64 " %" PRIu64, b->taken, b->simulated[0] + b->simulated[1]);
    fprintf(f, " %" PRIu64 " %" PRIu64 " %" PRIu64, b->bimodal_miss[0] + b->bimodal_miss[1],
            b->gshare_miss[0] + b->gshare_miss[1], b->tage_miss[0] + b->tage_miss[1]);
    fprintf(f, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, b->indirect, b->indirect_btb_miss,
            b->indirect_history_miss, b->returns, b->return_miss);
  }
  fputs("\ncode", f);
  for (unsigned k = 0; k < PQ_CODE_PLACES; k++)
    if (i->code[k]) fprintf(f, " %u:%" PRIu64, k, i->code[k]);
  fputc('\n', f);
}

static void put_miss_keys(FILE* f, const char* before) {
  static const char* const sizes[] = {"32k", "48k", "64k", "256k", "512k", "1m", "2m", "4m", "8m", "16m", "32m", "64m"};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
    fprintf(f, " %sdcache_%s_miss %sdcache_%s_miss_load_rand", before, sizes[i], before, sizes[i]);
  fprintf(f, " %sdtlb_64_miss %sdtlb_1536_miss %sdtlb_2048_miss", before, before, before);
}

static void put_keys(FILE* f) {
#define NAME(id, name) " op_" name
  fputs("keys instructions tb_execs" PQ_CLASSES(NAME), f);
#undef NAME
#define NAME(id, name) " " name
  fputs(PQ_SUMS(NAME) PQ_SELF_SUMS(NAME), f);
  fputs(" crit_chain_cycles string_iterations string_loads string_stores syscalls sys_bytes_read sys_bytes_written", f);
  fputs(PQ_SYSCALL_KINDS(NAME), f);
#undef NAME
  if (of_run->full) {
    fputs(" seen_instructions seen_accesses seen_lines seen_conditional", f);
    put_miss_keys(f, "seen_");
    fputs(" seen_forwarded_loads seen_icache_32k_miss seen_icache_64k_miss", f);
    put_miss_keys(f, "string_");
    fputs(
        " seen_branches_taken seen_branches seen_branch_miss_bimodal seen_branch_miss_gshare seen_branch_miss_tage"
        " seen_branches_indirect seen_indirect_miss_last_target seen_indirect_miss_history seen_returns"
        " seen_return_miss_ras16",
        f);
  }
  fputc('\n', f);
}

bool pq_phases_write(const char* path) {
  FILE* f = fopen(path, "we");
  if (!f) return false;
  wait_for_flag();
  take();
  if (open_one.instructions) close_interval();
  fputs("perfcast-phases 1\n", f);
  put_keys(f);
  for (unsigned i = 0; i < n_closed; i++) put_interval(f, &closed[i]);
  fputs("end 1\n", f);
  atomic_flag_clear(&busy);
  const bool ok = !ferror(f);
  return fclose(f) == 0 && ok;
}
