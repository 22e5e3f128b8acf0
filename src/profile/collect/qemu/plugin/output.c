/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "executed.h"
#include "follow.h"
#include "phases.h"
#include "sampling.h"
#include "sharing.h"
#include "trace.h"

struct totals {
  uint64_t stat[PQ_N_STATS], self[PQ_N_SELF];
  uint64_t blocks, execs, instructions;
  uint64_t string_iterations, string_loads, string_stores, string_load_bytes, string_store_bytes;
  uint64_t code_bytes, code_lines;
};

struct range {
  uint64_t from, to;
};

static uint64_t rounded(double x) { return (uint64_t)(x + 0.5); }

static void add_block(struct totals* t, const struct pq_block* b, struct pq_count c) {
  uint64_t execs = c.execs;
  if (b->is_rep) {
    /* further iterations are no new instructions, and the block runs once more
     * than there are iterations */
    execs -= c.again;
    t->string_iterations += c.again;
    t->string_loads += c.again * b->rep_loads;
    t->string_stores += c.again * b->rep_stores;
    t->string_load_bytes += c.again * b->rep_loads * b->rep_size;
    t->string_store_bytes += c.again * b->rep_stores * b->rep_size;
  } else {
    for (unsigned i = 0; i < PQ_N_SELF; i++) t->self[i] += c.again * b->self[i];
  }
  t->blocks++;
  t->execs += execs;
  t->instructions += execs * b->n_insns;
  for (unsigned i = 0; i < PQ_N_STATS; i++) t->stat[i] += execs * b->stat[i];
}

static int by_start(const void* a, const void* b) {
  const struct range *x = a, *y = b;
  return (x->from > y->from) - (x->from < y->from);
}

/* Blocks overlap where code is entered in the middle: each byte counts once. */
static void measure_code(struct totals* t, struct range* ranges, size_t n) {
  qsort(ranges, n, sizeof *ranges, by_start);
  uint64_t end = 0, line_end = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t from = ranges[i].from > end ? ranges[i].from : end;
    if (ranges[i].to > from) t->code_bytes += ranges[i].to - from;
    if (ranges[i].to > end) end = ranges[i].to;
    uint64_t line = ranges[i].from >> 6, last = ((ranges[i].to - 1) >> 6) + 1;
    if (line < line_end) line = line_end;
    if (last > line) {
      t->code_lines += last - line;
      line_end = last;
    }
  }
}

static void sum_blocks(const struct pq_run* run, struct totals* t) {
  uint32_t n = pq_block_total();
  struct range* ranges = malloc((n ? n : 1) * sizeof *ranges);
  size_t n_ranges = 0;
  for (uint32_t id = 0; id < n; id++) {
    const struct pq_block* b = pq_block_at(id);
    const struct pq_count c = pq_runs_of(run, b);
    if (!c.execs) continue;
    add_block(t, b, c);
    if (ranges) ranges[n_ranges++] = (struct range){b->pc, b->pc + b->n_bytes};
  }
  if (ranges) measure_code(t, ranges, n_ranges);
  free(ranges);
}

/* In front of the keys of a replicate. */
static char replicate[8];

static void put(FILE* f, const char* key, uint64_t value) { fprintf(f, "%s%s %" PRIu64 "\n", replicate, key, value); }

static void put_blocks(FILE* f, const struct totals* t) {
  static const char* const classes[] = {
#define NAME(id, name) "op_" name,
      PQ_CLASSES(NAME)
#undef NAME
  };
  static const char* const sums[] = {
#define NAME(id, name) name,
      PQ_SUMS(NAME)
#undef NAME
  };
  static const char* const selves[] = {
#define NAME(id, name) name,
      PQ_SELF_SUMS(NAME)
#undef NAME
  };
  put(f, "instructions", t->instructions);
  put(f, "tb_executed", t->blocks);
  put(f, "tb_execs", t->execs);
  put(f, "code_bytes", t->code_bytes);
  put(f, "code_lines", t->code_lines);
  for (unsigned i = 0; i < PQ_N_CLASSES; i++) put(f, classes[i], t->stat[i]);
  for (unsigned i = PQ_SUMS_FIRST; i < PQ_N_STATS; i++) {
    uint64_t value = t->stat[i];
    if (i == PQ_S_LOAD_BYTES) value += t->string_load_bytes;
    if (i == PQ_S_STORE_BYTES) value += t->string_store_bytes;
    put(f, sums[i - PQ_SUMS_FIRST], value);
  }
  for (unsigned i = 0; i < PQ_N_SELF; i++) put(f, selves[i], t->self[i]);
  put(f, "crit_chain_cycles", t->stat[PQ_S_CRIT] - t->self[PQ_L_SELF_PATH] + t->self[PQ_L_SELF_INC]);
  put(f, "string_iterations", t->string_iterations);
  put(f, "string_loads", t->string_loads);
  put(f, "string_stores", t->string_stores);
  put(f, "string_bytes_loaded", t->string_load_bytes);
  put(f, "string_bytes_stored", t->string_store_bytes);
}

static void put_syscalls(FILE* f, const struct pq_run* run) {
  static const char* const kinds[] = {
#define NAME(id, name) name,
      PQ_SYSCALL_KINDS(NAME)
#undef NAME
  };
  struct pq_syscall_counts t = {0};
  for (unsigned v = 0; v < run->n_vcpus; v++) {
    if (!pq_vcpus[v]) continue;
    const struct pq_syscall_counts* c = &pq_vcpus[v]->syscalls;
    t.total += c->total;
    t.failed += c->failed;
    for (unsigned i = 0; i < PQ_N_SYS; i++) t.kind[i] += c->kind[i];
    t.bytes_read += c->bytes_read;
    t.bytes_written += c->bytes_written;
    t.files_opened += c->files_opened;
    t.sleeps += c->sleeps;
    t.timers += c->timers;
    t.waits += c->waits;
    t.yields += c->yields;
    t.forks += c->forks;
    t.execs += c->execs;
  }
  put(f, "syscalls", t.total);
  put(f, "syscalls_failed", t.failed);
  for (unsigned i = 0; i < PQ_N_SYS; i++) put(f, kinds[i], t.kind[i]);
  put(f, "sys_sleep", t.sleeps);
  put(f, "sys_timer", t.timers);
  put(f, "sys_poll_timeout", t.waits);
  put(f, "sys_yield", t.yields);
  put(f, "sys_fork", t.forks);
  put(f, "sys_exec", t.execs);
  put(f, "sys_bytes_read", t.bytes_read);
  put(f, "sys_bytes_written", t.bytes_written);
  put(f, "files_opened", t.files_opened);
}

static void put_cache(FILE* f, const char* size, uint64_t misses[2][2]) {
  fprintf(f, "%sdcache_%s_miss %" PRIu64 "\n", replicate, size,
          misses[0][0] + misses[0][1] + misses[1][0] + misses[1][1]);
  fprintf(f, "%sdcache_%s_miss_load_seq %" PRIu64 "\n", replicate, size, misses[0][1]);
  fprintf(f, "%sdcache_%s_miss_load_rand %" PRIu64 "\n", replicate, size, misses[0][0]);
  fprintf(f, "%sdcache_%s_miss_store_seq %" PRIu64 "\n", replicate, size, misses[1][1]);
  fprintf(f, "%sdcache_%s_miss_store_rand %" PRIu64 "\n", replicate, size, misses[1][0]);
}

static void add_misses(uint64_t to[2][2], uint64_t from[2][2]) {
  for (unsigned i = 0; i < 4; i++) to[i / 2][i % 2] += from[i / 2][i % 2];
}

/* What a count of the simulation stands for in the whole run. The first phase
 * stands for itself, the windows for all that came after it. */
struct strata {
  double first, windows;
};

enum { LEAST_SEEN = 100000 }; /* below, the first phase and the windows are one */

static struct strata strata_of(uint64_t all, uint64_t first, double windows) {
  if (all <= first) return (struct strata){1, 0};
  if (windows >= LEAST_SEEN) return (struct strata){1, (double)(all - first) / windows};
  return (struct strata){first ? (double)all / (double)first : 0, 0};
}

static uint64_t estimate(struct strata s, uint64_t first, double windows) {
  return rounded(s.first * (double)first + s.windows * windows);
}

/* Of all vCPUs. A field's place among `windows`: PQ_TALLY_FIELD. */
struct simulated {
  struct pq_tally first;
  double windows[PQ_TALLY_FIELDS];
};
#define WINDOWS(s, member) (s)->windows[PQ_TALLY_FIELD(member)]

/* only: of this replicate alone, its windows standing for all; -1: of all. */
static void sum_simulated(const struct pq_run* run, int only, struct simulated* s) {
  memset(s, 0, sizeof *s);
  for (unsigned v = 0; v < run->n_vcpus; v++) {
    struct pq_tally first;
    double windows[PQ_REPLICATES][PQ_TALLY_FIELDS];
    if (!pq_vcpus[v]) continue;
    pq_tallies(pq_vcpus[v], &first, windows);
    for (size_t i = 0; i < PQ_TALLY_FIELDS; i++) ((uint64_t*)&s->first)[i] += ((const uint64_t*)&first)[i];
    for (int r = 0; r < PQ_REPLICATES; r++)
      for (size_t i = 0; i < PQ_TALLY_FIELDS; i++)
        if (only < 0 || r == only) s->windows[i] += windows[r][i];
  }
}

/* In a window most lines that no cache knows were touched in plain phases, by nobody
 * seen. No more lines are new than the program ever had memory; the others are taken
 * for touches of any of its lines: a cache holds them in the proportion of its size. */
static void place_unknown(const struct pq_run* run, struct pq_mem_counts* t, const struct pq_mem_counts* first) {
  uint64_t mapped = 0;
  for (unsigned v = 0; v < run->n_vcpus; v++)
    if (pq_vcpus[v]) mapped += pq_vcpus[v]->syscalls.mapped_bytes;
  const double lines = (double)pq_sampling.resident_bytes / 64;
  const double ever = pq_sampling.resident_share * (double)mapped / 64;
  uint64_t *all = &t->large[PQ_N_LARGE][0][0], sum = 0, known = 0;
  const uint64_t* in_first = &first->large[PQ_N_LARGE][0][0];
  for (unsigned i = 0; i < 4; i++) sum += all[i], known += in_first[i];
  if (lines <= 0 || sum <= known) return;
  const double unknown = (double)(sum - known), most = ever > lines ? ever : lines;
  const double fresh = most > (double)known ? most - (double)known : 0;
  const double excess = unknown > fresh ? (unknown - fresh) / unknown : 0;
  for (unsigned i = 0; i < 4; i++) {
    double smaller = 0, moved = excess * (double)(all[i] - (in_first[i] < all[i] ? in_first[i] : all[i]));
    for (unsigned size = 0; size < PQ_N_LARGE; size++) {
      double held = (double)(UINT64_C(4096) << size) / lines;
      if (held > 1) held = 1;
      const uint64_t part = rounded(moved * (held - smaller));
      (&t->large[size][0][0])[i] += part;
      all[i] -= part < all[i] ? part : all[i];
      smaller = held;
    }
  }
}

static void put_memory(FILE* f, const struct pq_run* run, const struct totals* all, const struct simulated* s) {
  struct pq_mem_counts t;
  const struct strata by_access =
      strata_of(all->stat[PQ_S_LOADS] + all->stat[PQ_S_STORES], s->first.passed.accesses, WINDOWS(s, passed.accesses));
  const struct strata by_line = strata_of(all->stat[PQ_S_ILINES], s->first.passed.lines, WINDOWS(s, passed.lines));
  const uint64_t* first = (const uint64_t*)&s->first.mem;
  const double* windows = &WINDOWS(s, mem);
  for (size_t i = 0; i < sizeof t / sizeof *first; i++) ((uint64_t*)&t)[i] = estimate(by_access, first[i], windows[i]);
  for (unsigned v = 0; pq_sampling.on && v < run->n_vcpus; v++)
    for (size_t i = 0; pq_vcpus[v] && i < sizeof t / sizeof *first; i++)
      ((uint64_t*)&t)[i] += ((const uint64_t*)&pq_vcpus[v]->strings)[i];
  if (pq_sampling.windows) place_unknown(run, &t, &s->first.mem);
  t.icache_32k_miss = estimate(by_line, s->first.mem.icache_32k_miss, WINDOWS(s, mem.icache_32k_miss));
  t.icache_64k_miss = estimate(by_line, s->first.mem.icache_64k_miss, WINDOWS(s, mem.icache_64k_miss));
  struct pq_footprint touched = {0};
  for (unsigned v = 0; v < run->n_vcpus; v++) {
    if (!pq_vcpus[v]) continue;
    const struct pq_mem* m = &pq_vcpus[v]->mem;
    for (size_t i = 0; i < m->footprint.capacity; i++)
      if (m->footprint.pages[i]) pq_footprint_add(&touched, m->footprint.pages[i] - 1, m->footprint.lines[i]);
  }
  static const char* const l1_sizes[PQ_N_L1] = {"32k", "48k", "64k"};
  static const char* const sizes[PQ_N_LARGE] = {"256k", "512k", "1m", "2m", "4m", "8m", "16m", "32m", "64m"};
  uint64_t l1[PQ_N_L1][2][2] = {0}, large[PQ_N_LARGE][2][2] = {0}, sum[2][2] = {{0}};
  for (int i = PQ_N_L1 - 1; i >= 0; i--) {
    add_misses(sum, t.l1[i]);
    memcpy(l1[i], sum, sizeof sum);
  }
  memset(sum, 0, sizeof sum);
  for (int i = PQ_N_LARGE - 1; i >= 0; i--) {
    add_misses(sum, t.large[i + 1]);
    memcpy(large[i], sum, sizeof sum);
  }
  for (unsigned i = 0; i < PQ_N_L1; i++) put_cache(f, l1_sizes[i], l1[i]);
  for (unsigned i = 0; i < PQ_N_LARGE; i++) put_cache(f, sizes[i], large[i]);
  put(f, "dtlb_64_miss", t.tlb_miss);
  put(f, "dtlb_1536_miss", t.stlb_1536_miss);
  put(f, "dtlb_2048_miss", t.stlb_2048_miss);
  put(f, "line_crossing_loads", t.line_crossing_loads);
  put(f, "line_crossing_stores", t.line_crossing_stores);
  put(f, "forwarded_loads", t.forwarded_loads);
  put(f, "icache_32k_miss", t.icache_32k_miss);
  put(f, "icache_64k_miss", t.icache_64k_miss);
  uint64_t lines = 0;
  for (size_t i = 0; i < touched.capacity; i++)
    if (touched.pages[i]) lines += (uint64_t)__builtin_popcountll(touched.lines[i]);
  if (!pq_sampling.on || pq_sampling.phase == PQ_FIRST) { /* else only what the windows happened to touch */
    put(f, "footprint_lines", lines);
    put(f, "footprint_pages", touched.used);
  }
  free(touched.pages);
  free(touched.lines);
}

/* Misses of all branches from those simulated in bursts. */
static uint64_t scaled(const uint64_t misses[2], const uint64_t simulated[2], uint64_t all) {
  if (!simulated[1] || all < simulated[0]) return misses[0] + misses[1];
  double unseen = (double)(all - simulated[0]) / (double)simulated[1];
  return misses[0] + (uint64_t)((double)misses[1] * unseen + 0.5);
}

/* Windows simulate bursts, [1], and every branch of the piece that a trace takes of them, [0]: what bursts miss holds
 * for all others. A window at the end of the program may be no longer than its piece. */
static double window_misses(const double misses[2], const double simulated[2], double all) {
  if (simulated[1] > 0) return misses[0] + misses[1] / simulated[1] * (all - simulated[0]);
  return simulated[0] > 0 ? misses[0] / simulated[0] * all : 0;
}

static uint64_t branch_misses(const struct simulated* s, struct strata by_branch, const uint64_t first[2],
                              const double windows[2]) {
  return estimate(by_branch, scaled(first, s->first.branches.simulated, s->first.passed.conditional),
                  window_misses(windows, &WINDOWS(s, branches.simulated), WINDOWS(s, passed.conditional)));
}

static void put_branches(FILE* f, const struct totals* all, const struct simulated* s) {
  const struct pq_branch_counts* first = &s->first.branches;
  const uint64_t conditional = all->stat[PQ_OP_COND_BRANCH];
  const uint64_t indirect = all->stat[PQ_OP_IND_BRANCH] + all->stat[PQ_OP_IND_CALL], returns = all->stat[PQ_OP_RET];
  const struct strata by_branch = strata_of(conditional, s->first.passed.conditional, WINDOWS(s, passed.conditional));
  const struct strata by_indirect = strata_of(indirect, first->indirect, WINDOWS(s, branches.indirect));
  const struct strata by_return = strata_of(returns, first->returns, WINDOWS(s, branches.returns));
  put(f, "branches_conditional", conditional);
  put(f, "branches_taken", estimate(by_branch, first->taken, WINDOWS(s, branches.taken)));
  put(f, "branches_simulated",
      first->simulated[0] + first->simulated[1] +
          rounded(WINDOWS(s, branches.simulated) + WINDOWS(s, branches.simulated[1])));
  put(f, "branch_miss_bimodal", branch_misses(s, by_branch, first->bimodal_miss, &WINDOWS(s, branches.bimodal_miss)));
  put(f, "branch_miss_gshare", branch_misses(s, by_branch, first->gshare_miss, &WINDOWS(s, branches.gshare_miss)));
  put(f, "branch_miss_tage", branch_misses(s, by_branch, first->tage_miss, &WINDOWS(s, branches.tage_miss)));
  put(f, "branches_indirect", estimate(by_indirect, first->indirect, WINDOWS(s, branches.indirect)));
  put(f, "indirect_miss_last_target",
      estimate(by_indirect, first->indirect_btb_miss, WINDOWS(s, branches.indirect_btb_miss)));
  put(f, "indirect_miss_history",
      estimate(by_indirect, first->indirect_history_miss, WINDOWS(s, branches.indirect_history_miss)));
  put(f, "returns", estimate(by_return, first->returns, WINDOWS(s, branches.returns)));
  put(f, "return_miss_ras16", estimate(by_return, first->return_miss, WINDOWS(s, branches.return_miss)));
}

/* Of each vCPU: further iterations of repeated string instructions are left out as everywhere. */
static void put_threads(FILE* f, const struct pq_run* run) {
  static const struct {
    const char* name;
    unsigned stat;
  } sums[] = {{"loads", PQ_S_LOADS},         {"stores", PQ_S_STORES},       {"op_cond_branch", PQ_OP_COND_BRANCH},
              {"fp_single", PQ_S_FP_SINGLE}, {"fp_double", PQ_S_FP_DOUBLE}, {"op_atomic", PQ_OP_ATOMIC}};
  enum { MOST_THREADS = 1024, N_SUMS = sizeof sums / sizeof *sums };
  for (unsigned v = 0; v < run->n_vcpus && v < MOST_THREADS; v++) {
    uint64_t instructions = 0, sum[N_SUMS] = {0};
    if (!pq_vcpus[v]) continue;
    for (uint32_t id = 0, n = pq_block_total(); id < n; id++) {
      const uint32_t chunk = id >> PQ_CHUNK_BITS, at = id & (PQ_CHUNK - 1);
      const struct pq_count* counts = v ? pq_vcpus[v]->counts[chunk] : pq_count0_chunk(chunk);
      const struct pq_block* b = pq_block_at(id);
      if (!counts) continue;
      /* before a second thread began plain phases counted without a call: the first thread's */
      const uint64_t execs = counts[at].execs + (v ? 0 : b->plain) - (b->is_rep ? counts[at].again : 0);
      instructions += execs * b->n_insns;
      for (unsigned i = 0; i < N_SUMS; i++) sum[i] += execs * b->stat[sums[i].stat];
    }
    fprintf(f, "thread%u_instructions %" PRIu64 "\n", v, instructions);
    for (unsigned i = 0; i < N_SUMS; i++) fprintf(f, "thread%u_%s %" PRIu64 "\n", v, sums[i].name, sum[i]);
    fprintf(f, "thread%u_syscalls %" PRIu64 "\n", v, pq_vcpus[v]->syscalls.total);
  }
}

static void put_sampling(FILE* f) {
  put(f, "sampling_windows", pq_sampling.windows);
  put(f, "sampled_instructions", pq_sampling.seen);
}

/* CPU time of this process under the emulator. */
static uint64_t used_us(void) {
  struct rusage used;
  if (getrusage(RUSAGE_SELF, &used)) return 0;
  return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000u +
         (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static bool write_file(FILE* f, const struct pq_run* run, const struct pq_end* end) {
  struct totals t;
  memset(&t, 0, sizeof t);
  sum_blocks(run, &t);
  fprintf(f, "perfcast-qemu 1\narch %s\nmode %s\n", run->arch == PQ_X86_64 ? "x86_64" : "aarch64",
          run->full ? "full" : "mix");
  fprintf(f, "pid %ld\nppid %ld\n", (long)getpid(), (long)getppid());
  put(f, "threads", run->threads);
  put(f, "started_ns", run->started_ns);
  put(f, "forked", run->forked);
  put(f, "emulated_us", used_us());
  if (run->group >= 0) {
    put(f, "group", (uint64_t)run->group);
    put(f, "unit", (uint64_t)run->unit);
  }
  fprintf(f, "program %s\ncommand %s\n", pq_own_program(), pq_own_command());
  put(f, "exec", end->exec);
  if (end->exec_path && *end->exec_path) fprintf(f, "exec_path %s\n", end->exec_path);
  if (end->exec_why) fprintf(f, "exec_why %s\n", end->exec_why);
  put(f, "signal", (uint64_t)end->signal);
  put(f, "untracked", run->untracked);
  put_blocks(f, &t);
  if (pq_executed.files) pq_executed_put_files(f, run);
  put_syscalls(f, run);
  if (run->n_vcpus > 1) put_threads(f, run);
  if (run->full) {
    struct simulated s;
    sum_simulated(run, -1, &s);
    put_memory(f, run, &t, &s);
    put_branches(f, &t, &s);
    if (pq_sampling.on) put_sampling(f);
    for (int r = 0; r < PQ_REPLICATES && pq_sampling.windows >= PQ_REPLICATES; r++) {
      snprintf(replicate, sizeof replicate, "r%d_", r);
      sum_simulated(run, r, &s);
      put_memory(f, run, &t, &s);
      put_branches(f, &t, &s);
    }
    replicate[0] = 0;
  }
  fputs("end 1\n", f);
  return !ferror(f);
}

static bool write_blocks(const char* path, const struct pq_run* run) { return pq_executed_write(path, run); }
static bool write_phases(const char* path, const struct pq_run* run) {
  (void)run;
  return pq_phases_write(path);
}

/* Beside the counts, whole or not at all. */
static void write_beside(const char* counts, const char* suffix, bool (*write)(const char*, const struct pq_run*),
                         const struct pq_run* run) {
  char name[4096 + 16], temporary[4096 + 24];
  snprintf(name, sizeof name, "%s.%s", counts, suffix);
  snprintf(temporary, sizeof temporary, "%s.tmp", name);
  if (write(temporary, run) && rename(temporary, name) == 0) return;
  fprintf(stderr, "perfcast plugin: cannot write %s\n", name);
  unlink(temporary);
}

void pq_write(const struct pq_run* run, const struct pq_end* end) {
  char name[4096], temporary[4096 + 8];
  int n = snprintf(name, sizeof name, "%s.%ld.%" PRIu64, run->prefix, (long)getpid(), run->started_ns);
  if (n < 0 || (size_t)n >= sizeof name) return;
  snprintf(temporary, sizeof temporary, "%s.tmp", name);
  FILE* f = fopen(temporary, "we");
  if (!f) {
    fprintf(stderr, "perfcast plugin: cannot write %s\n", temporary);
    return;
  }
  bool ok = write_file(f, run, end);
  ok = fclose(f) == 0 && ok;
  if (!ok || rename(temporary, name) != 0) {
    fprintf(stderr, "perfcast plugin: cannot write %s\n", name);
    unlink(temporary);
  }
  if (pq_sharing_on && run->n_vcpus > 1) {
    snprintf(temporary, sizeof temporary, "%s.sharing", name);
    if (!pq_sharing_write(temporary)) fprintf(stderr, "perfcast plugin: cannot write %s\n", temporary);
  }
  if (pq_executed.file) write_beside(name, "blocks", write_blocks, run);
  if (pq_phases.on) write_beside(name, "phases", write_phases, run);
  if (!pq_trace.on) return;
  snprintf(temporary, sizeof temporary, "%s.trace", name);
  if (!pq_trace_write(temporary, run->arch)) fprintf(stderr, "perfcast plugin: cannot write %s\n", temporary);
}
