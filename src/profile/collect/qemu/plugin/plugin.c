/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's face to QEMU: translation, execution, memory, system calls.
 *
 * It runs inside QEMU, hence its licence; the rest of the project only reads
 * the files it writes. To build it alone:
 *   gcc -std=gnu11 -O3 -fPIC -shared -o libperfcast_qemu_plugin.so *.c -lcapstone -lm -lpthread
 *   qemu-x86_64 -cpu max -plugin ./libperfcast_qemu_plugin.so,out=/tmp/p,mode=full prog
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "decode_a64.h"
#include "decode_x86.h"
#include "executed.h"
#include "follow.h"
#include "follow_plan.h"
#include "output.h"
#include "phases.h"
#include "qemu_api.h"
#include "reset.h"
#include "sampling.h"
#include "sharing.h"
#include "trace.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

static struct pq_run run;
static qemu_plugin_id_t plugin_id;
static char prefix[PATH_MAX + 256];
static pthread_mutex_t translating = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

/* ---- execution ---- */

static struct pq_count* count_slow(struct pq_vcpu* v, uint32_t id) {
  struct pq_count** chunk = &v->counts[id >> PQ_CHUNK_BITS];
  if (!*chunk && !(*chunk = calloc(PQ_CHUNK, sizeof **chunk))) abort();
  return &(*chunk)[id & (PQ_CHUNK - 1)];
}

static inline struct pq_count* count_of(struct pq_vcpu* v, unsigned index, struct pq_block* b) {
  return PQ_LIKELY(index == 0) ? b->count0 : count_slow(v, b->id);
}

static inline bool runs_again(const struct pq_block* previous, const struct pq_block* b) {
  return previous == b || (b->is_rep && previous && previous->ends_with_rep && previous->last_pc == b->pc);
}

static void on_exec_mix(unsigned index, void* data) {
  struct pq_block* b = data;
  struct pq_vcpu* v = pq_vcpus[index];
  struct pq_count* c = count_of(v, index, b);
  c->execs++;
  c->again += v->previous == b;
  v->previous = b;
  v->plain += b->n_insns;
  if (PQ_UNLIKELY(v->plain >= v->look_due)) pq_sampling_look(v);
}

static void forget_string(struct pq_vcpu* v) { v->string_line[0] = v->string_line[1] = UINT64_MAX; }

static void on_exec_mix_rep(unsigned index, void* data) {
  struct pq_block* b = data;
  struct pq_vcpu* v = pq_vcpus[index];
  struct pq_count* c = count_of(v, index, b);
  const bool again = runs_again(v->previous, b);
  c->execs++;
  c->again += again;
  v->previous = b;
  if (!again) forget_string(v);
}

static void resolve_other(struct pq_predictors* p, const struct pq_block* from, uint64_t to) {
  switch (from->branch) {
    case PQ_BR_IND:
      pq_branch_indirect(p, from->last_pc, to);
      break;
    case PQ_BR_CALL:
      pq_branch_call(p, from->fall_through);
      break;
    case PQ_BR_IND_CALL:
      pq_branch_indirect(p, from->last_pc, to);
      pq_branch_call(p, from->fall_through);
      break;
    case PQ_BR_RET:
      pq_branch_return(p, to);
      break;
    default:
      break;
  }
}

static inline void resolve_branch(struct pq_vcpu* v, const struct pq_block* from, uint64_t to) {
  struct pq_predictors* p = v->predictors;
  if (PQ_LIKELY(from->branch == PQ_BR_COND)) {
    v->passed.conditional++;
    pq_branch_conditional(p, from->last_pc, to != from->fall_through);
  } else if (from->branch > PQ_BR_JUMP) {
    resolve_other(p, from, to);
  }
}

static void on_exec_full(unsigned index, void* data) {
  struct pq_block* b = data;
  struct pq_vcpu* v = pq_vcpus[index];
  struct pq_count* c = count_of(v, index, b);
  struct pq_block* previous = v->previous;
  c->execs++;
  c->again += previous == b;
  v->previous = b;
  if (PQ_UNLIKELY(!pq_mem_fetched(&v->mem, b->first_line, b->last_line)))
    pq_mem_fetch_slow(&v->mem, b->first_line, b->last_line);
  if (PQ_LIKELY(previous != NULL)) resolve_branch(v, previous, b->pc);
  v->passed.accesses += b->n_accesses;
  v->passed.lines += b->n_lines;
  v->passed.instructions += b->n_insns;
  if (PQ_UNLIKELY(v->passed.instructions >= v->due)) pq_phase_is_over(v);
}

static void on_exec_full_rep(unsigned index, void* data) {
  struct pq_block* b = data;
  struct pq_vcpu* v = pq_vcpus[index];
  if (runs_again(v->previous, b)) {
    struct pq_count* c = count_of(v, index, b);
    c->execs++;
    c->again++;
    v->previous = b;
    return;
  }
  forget_string(v);
  on_exec_full(index, data);
}

static void on_exec_traced(unsigned index, void* data) {
  struct pq_block* b = data;
  struct pq_vcpu* v = pq_vcpus[index];
  const uint64_t missed = pq_trace_missed(v);
  const bool again = b->is_rep && runs_again(v->previous, b);
  if (PQ_UNLIKELY(v->passed.instructions >= v->trace_due)) pq_trace_begin(v);
  (b->is_rep ? on_exec_full_rep : on_exec_full)(index, data);
  if (PQ_UNLIKELY(pq_trace.owner == v)) pq_trace_block(b, pq_trace_missed(v) != missed, again);
}

/* ---- memory ---- */

static void on_load(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  (void)info;
  pq_mem_access(&pq_vcpus[index]->mem, address, (uintptr_t)data, false);
}

static void on_store(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  (void)info;
  pq_mem_access(&pq_vcpus[index]->mem, address, (uintptr_t)data, true);
}

static void on_both(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  (void)data;
  uint64_t last_byte = (UINT64_C(1) << qemu_plugin_mem_size_shift(info)) - 1;
  pq_mem_access(&pq_vcpus[index]->mem, address, last_byte, qemu_plugin_mem_is_store(info));
}

/* More than 8 bytes arrive as consecutive parts of 8: treat the first as all. */
static inline void wide(unsigned index, uint64_t address, uint64_t last_byte, bool store) {
  struct pq_mem* m = &pq_vcpus[index]->mem;
  if (m->parts_left && address == m->part_next) {
    m->parts_left--;
    m->part_next += 8;
    return;
  }
  m->parts_left = (unsigned)(last_byte >> 3);
  m->part_next = address + 8;
  for (;; address += 64, last_byte -= 64) { /* mostly once; whole state areas are larger */
    pq_mem_access(m, address, last_byte > 63 ? 63 : last_byte, store);
    if (last_byte <= 63) break;
  }
}

static void on_wide_load(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  (void)info;
  wide(index, address, (uintptr_t)data, false);
}

static void on_wide_store(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  (void)info;
  wide(index, address, (uintptr_t)data, true);
}

static void trace_access(const struct pq_vcpu* v, const struct pq_watched* w, qemu_plugin_meminfo_t info,
                         uint64_t address) {
  if (v->previous)
    pq_trace_access(v->previous, w, address, (unsigned)(v->mem.held | v->mem.page_held << 4),
                    qemu_plugin_mem_size_shift(info) | (qemu_plugin_mem_is_store(info) ? 128u : 0));
}

/* Of a sampled run, whatever the phase: one instruction may pass over all of the memory, too seldom for windows to
 * meet it. Further accesses to the lines that it read and wrote last change nothing: what it copies from may share a
 * set with what it copies to, so that neither stays the most recent. */
static void on_string(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  struct pq_vcpu* v = pq_vcpus[index];
  const uint64_t last_byte = (UINT64_C(1) << qemu_plugin_mem_size_shift(info)) - 1;
  const uint64_t line = (address + last_byte) >> PQ_LINE_BITS;
  const bool store = qemu_plugin_mem_is_store(info);
  v->mem.held = v->mem.page_held = 0;
  /* QEMU puts further iterations into a block of their own: behind other instructions it is the first one */
  if (((const struct pq_watched*)data)->insn > 0) forget_string(v);
  if (PQ_UNLIKELY(v->string_line[store] != line)) {
    v->string_line[store] = line;
    if (!pq_mem_is_hit(&v->mem, address, last_byte))
      pq_mem_access_apart(&v->mem, address, last_byte, store, &v->strings);
  }
  if (PQ_UNLIKELY(pq_trace.owner == v)) trace_access(v, data, info, address);
}

static const qemu_plugin_vcpu_mem_cb_t callbacks[] = {on_load, on_store, on_wide_load, on_wide_store, on_both};

/* A function of its own for each kind of access: through a table it would cost a quarter of the access more. */
#define TRACED(name, simulate, is_wide)                                                        \
  static void name(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void* data) { \
    const struct pq_watched* w = data;                                                         \
    struct pq_vcpu* v = pq_vcpus[index];                                                       \
    const bool further_part = (is_wide) && v->mem.parts_left && address == v->mem.part_next;   \
    v->mem.held = v->mem.page_held = 0;                                                        \
    simulate(index, info, address, (void*)(uintptr_t)w->last_byte);                            \
    if (PQ_UNLIKELY(pq_trace.owner == v) && !further_part) trace_access(v, w, info, address);  \
  }
TRACED(on_traced_load, on_load, false)
TRACED(on_traced_store, on_store, false)
TRACED(on_traced_wide_load, on_wide_load, true)
TRACED(on_traced_wide_store, on_wide_store, true)
TRACED(on_traced_both, on_both, false)
#undef TRACED

static const qemu_plugin_vcpu_mem_cb_t traced_callbacks[] = {on_traced_load, on_traced_store, on_traced_wide_load,
                                                             on_traced_wide_store, on_traced_both};

static void watch_memory(struct qemu_plugin_tb* tb, const struct pq_block* b) {
  for (unsigned i = 0; i < b->n_watched; i++) {
    const struct pq_watched* w = &b->watched[i];
    qemu_plugin_vcpu_mem_cb_t callback = callbacks[w->access];
    void* what = (void*)(uintptr_t)w->last_byte;
    if (pq_sampling.on && w->is_string) {
      callback = on_string;
      what = (void*)(uintptr_t)w;
    } else if (!pq_simulates()) {
      continue;
    } else if (pq_trace.on) {
      callback = traced_callbacks[w->access];
      what = (void*)(uintptr_t)w;
    }
    /* Always both directions: QEMU 7.2 calls back for the wrong ones otherwise. */
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, w->insn), callback, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW, what);
  }
}

/* ---- translation ---- */

enum { MAX_INSNS = 1024 };

static void decode(const uint8_t* bytes, size_t size, uint64_t pc, struct pq_insn* out) {
  if (run.arch == PQ_X86_64) {
    pq_x86_decode(bytes, size, pc, out);
  } else {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    pq_a64_decode(word, out);
  }
}

/* QEMU 7.2 ends a block before an x86 instruction that reaches into the next
 * page, but still lists its first bytes. They decode to nothing. */
static bool is_left_over(const struct qemu_plugin_insn* insn) {
  uint64_t pc = qemu_plugin_insn_vaddr(insn);
  if (run.arch != PQ_X86_64 || (pc & 4095) + 15 <= 4096) return false;
  struct pq_insn i;
  decode(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn), pc, &i);
  return i.undecoded;
}

static void call(struct qemu_plugin_tb* tb, qemu_plugin_vcpu_udata_cb_t callback, struct pq_block* b) {
  qemu_plugin_register_vcpu_tb_exec_cb(tb, callback, QEMU_PLUGIN_CB_NO_REGS, b);
}

static void instrument(struct qemu_plugin_tb* tb, struct pq_block* b) {
  if (run.full) watch_memory(tb, b);
  if (pq_sharing_on && pq_simulates()) pq_sharing_watch(tb, b);
  if (run.full && pq_simulates()) {
    call(tb, pq_trace.on ? on_exec_traced : b->is_rep ? on_exec_full_rep : on_exec_full, b);
  } else if (b->is_rep || !run.full || pq_vcpus[1]) {
    /* iterations have to be told from executions, threads from each other */
    call(tb, b->is_rep ? on_exec_mix_rep : on_exec_mix, b);
  } else {
    qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &b->plain, 1);
  }
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  static struct pq_insn insns[MAX_INSNS]; /* under the lock */
  static uint8_t sizes[MAX_INSNS];
  size_t n = qemu_plugin_tb_n_insns(tb);
  if (n == 0) return;
  if (n > MAX_INSNS) n = MAX_INSNS;
  uint64_t hash = 0xcbf29ce484222325u, pc = qemu_plugin_tb_vaddr(tb), last_pc = pc;
  uint32_t n_bytes = 0;
  pthread_mutex_lock(&translating);
  if (n > 1 && is_left_over(qemu_plugin_tb_get_insn(tb, n - 1))) n--;
  for (size_t i = 0; i < n; i++) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    const uint8_t* bytes = qemu_plugin_insn_data(insn);
    size_t size = qemu_plugin_insn_size(insn);
    for (size_t k = 0; k < size; k++) hash = (hash ^ bytes[k]) * 0x100000001b3u;
    last_pc = qemu_plugin_insn_vaddr(insn);
    n_bytes += (uint32_t)size;
  }
  bool is_new;
  struct pq_block* b = pq_block_find(pc, n_bytes, hash, &is_new);
  if (!b) {
    run.untracked++;
    pthread_mutex_unlock(&translating);
    return;
  }
  if (is_new) {
    for (size_t i = 0; i < n; i++) {
      struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
      sizes[i] = (uint8_t)qemu_plugin_insn_size(insn);
      decode(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn), qemu_plugin_insn_vaddr(insn), &insns[i]);
    }
    pq_block_analyse(b, insns, n, last_pc);
    if (pq_trace.on) pq_trace_remember(b, insns, sizes, n);
  } else {
    pq_sampling.translated_again += n;
  }
  if (pq_executed.on) pq_executed_translate(&run, b, qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0)));
  if (pq_phases.on) pq_phases_translated(b);
  pthread_mutex_unlock(&translating);
  if (pq_phases.on) pq_sampling_tick();
  instrument(tb, b);
}

/* ---- threads, forks, system calls, the end ---- */

static void on_vcpu(qemu_plugin_id_t id, unsigned index) {
  (void)id;
  if (index >= PQ_MAX_VCPUS) {
    fprintf(stderr, "perfcast plugin: more than %d threads at once\n", PQ_MAX_VCPUS);
    abort();
  }
  pthread_mutex_lock(&starting);
  run.threads++;
  if (index >= run.n_vcpus) run.n_vcpus = index + 1;
  struct pq_vcpu* v = pq_vcpus[index]; /* numbers are used again after a thread ends */
  if (!v) {
    v = calloc(1, sizeof *v);
    if (!v) abort();
    if (run.full) {
      pq_mem_init(&v->mem);
      v->predictors = malloc(sizeof *v->predictors);
      if (!v->predictors) abort();
      pq_predictors_init(v->predictors);
    }
    pq_vcpus[index] = v;
  }
  v->previous = NULL;
  pq_sampling_start(v);
  if (run.threads == 2) pq_sampling_threads();
  pthread_mutex_unlock(&starting);
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A forked child starts from zero, with its parent's warm caches. */
static void in_child(void) {
  uint32_t n = pq_block_total();
  for (uint32_t chunk = 0; chunk << PQ_CHUNK_BITS < n; chunk++)
    memset(pq_count0_chunk(chunk), 0, PQ_CHUNK * sizeof(struct pq_count));
  for (uint32_t block = 0; block < n; block++) pq_block_at(block)->plain = 0;
  for (unsigned i = 0; i < run.n_vcpus; i++) {
    struct pq_vcpu* v = pq_vcpus[i];
    if (!v) continue;
    for (uint32_t chunk = 0; chunk << PQ_CHUNK_BITS < n; chunk++)
      if (v->counts[chunk]) memset(v->counts[chunk], 0, PQ_CHUNK * sizeof(struct pq_count));
    memset(&v->syscalls, 0, sizeof v->syscalls);
    if (!run.full) continue;
    pq_mem_reset_counts(&v->mem);
    memset(&v->predictors->counts, 0, sizeof v->predictors->counts);
  }
  pq_reset_forked();
  pq_sharing_forked();
  pq_executed_forked();
  if (pq_phases.on) pq_phases_forked();
  if (run.full) pq_sampling_forked();
  run.threads = 1;
  run.started_ns = now_ns();
  run.forked = true;
  pthread_mutex_init(&starting, NULL);
  pthread_mutex_init(&translating, NULL);
}

/* The record of this program is written before the exec, which does not return.
 * Should it fail all the same, the end of this program replaces the record. */
static void on_exec_call(int64_t number, const uint64_t args[6]) {
  struct pq_exec_call* call = calloc(1, sizeof *call);
  if (!call) return;
  struct pq_end end = {.exec_path = call->path};
  switch (pq_exec_inspect(number, args, call, run.follow)) {
    case PQ_EXEC_FAILS:
      break;
    case PQ_EXEC_FOLLOWED:
      end.exec = PQ_END_FOLLOWED;
      pq_write(&run, &end);
      pq_exec_follow(call);
      call->why_unseen = "emulator-not-reached";
      /* fall through */
    case PQ_EXEC_UNSEEN:
      end.exec = PQ_END_UNSEEN;
      end.exec_why = call->why_unseen;
      pq_write(&run, &end);
      break;
  }
  pq_exec_free(call);
  free(call);
}

static void on_syscall(qemu_plugin_id_t id, unsigned index, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
  (void)id, (void)a7, (void)a8;
  const uint64_t args[6] = {a1, a2, a3, a4, a5, a6};
  pq_syscall_enter(&pq_vcpus[index]->syscalls, number, args);
  if (pq_executed.on) pq_executed_call(&run, pq_vcpus[index], number, args);
  if (pq_syscall_is_exec(number)) on_exec_call(number, args);
  if (pq_syscall_ends_thread(number)) pq_reset_thread_ends();
  if (pq_syscall_ends_process(number)) pq_reset_process_ends();
}

static void on_syscall_return(qemu_plugin_id_t id, unsigned index, int64_t number, int64_t result) {
  (void)id;
  pq_syscall_return(&pq_vcpus[index]->syscalls, number, result);
  if (pq_executed.on) pq_executed_return(pq_vcpus[index], result);
  if (pq_phases.on) pq_phases_look();
}

static void at_exit(qemu_plugin_id_t id, void* data) {
  (void)id, (void)data;
  const struct pq_end end = {0};
  pq_write(&run, &end);
}

/* QEMU ends a guest by a signal without a callback: it restores the signal's
 * default action and sends it to itself. Loaded before the C library (see
 * follow.c), this sees that. Other uses of kill by QEMU are passed on; the
 * guest's own are system calls. */
__attribute__((visibility("default"))) int kill(pid_t process, int number) {
  if (run.prefix && process == getpid() && number) {
    const struct pq_end end = {.signal = number};
    pq_write(&run, &end);
  }
  return (int)syscall(SYS_kill, process, number);
}

static bool set_prefix(const char* text) {
  char here[PATH_MAX];
  if (text[0] == '/')
    here[0] = 0;
  else if (!getcwd(here, sizeof here))
    return false;
  int n = snprintf(prefix, sizeof prefix, "%s%s%s", here, here[0] ? "/" : "", text);
  run.prefix = prefix;
  return n > 0 && (size_t)n < sizeof prefix;
}

static void register_callbacks(void) {
  qemu_plugin_register_vcpu_init_cb(plugin_id, on_vcpu);
  qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, on_translate);
  qemu_plugin_register_vcpu_syscall_cb(plugin_id, on_syscall);
  qemu_plugin_register_vcpu_syscall_ret_cb(plugin_id, on_syscall_return);
  qemu_plugin_register_atexit_cb(plugin_id, at_exit, NULL);
  pq_reset_register(plugin_id);
}

/* Threads in system calls go on all the while: callbacks are gone as shortly as can be. */
static void on_reset(qemu_plugin_id_t id) {
  (void)id;
  register_callbacks();
  pthread_mutex_lock(&starting);
  pq_phase_change();
  pthread_mutex_unlock(&starting);
  pq_reset_done();
}

static bool translate_all_again(void) { return pq_reset(plugin_id, on_reset); }

static int refuse(const char* why, const char* what) {
  fprintf(stderr, "perfcast plugin: %s%s%s\n", why, *what ? ": " : "", what);
  return 1;
}

static bool read_sampling(const char* text) {
  struct pq_sampling* s = &pq_sampling;
  char rest;
  s->on = strcmp(text, "off") != 0;
  if (!s->on || !strcmp(text, "on")) return true;
  return sscanf(text, "%" SCNu64 ":%" SCNu64 ":%lf:%" SCNu64 ":%" SCNu64 "%c", &s->first, &s->window, &s->share,
                &s->at_first_ms, &s->seed, &rest) == 5 &&
         s->window > 0 && s->share > 0;
}

static bool read_phases(const char* text, unsigned* most) {
  char rest;
  *most = 0;
  if (!strcmp(text, "off")) return true;
  return sscanf(text, "%u%c", most, &rest) == 1 && *most >= PQ_PHASES_LEAST && *most <= PQ_PHASES_MOST;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  const char *sysroot = "", *plan = "";
  unsigned phases = 0;
  run.group = run.unit = -1;
  run.full = true;
  run.started_ns = now_ns();
  for (int i = 0; i < argc; i++) {
    if (!strncmp(argv[i], "out=", 4)) {
      if (!set_prefix(argv[i] + 4)) return refuse("unusable path", argv[i]);
    } else if (!strcmp(argv[i], "mode=mix")) {
      run.full = false;
    } else if (!strncmp(argv[i], "sysroot=", 8)) {
      sysroot = argv[i] + 8;
    } else if (!strncmp(argv[i], "sample=", 7)) {
      if (!read_sampling(argv[i] + 7)) return refuse("sample=on, off or FIRST:WINDOW:SHARE:AT_FIRST_MS:SEED", argv[i]);
    } else if (!strncmp(argv[i], "plan=", 5)) {
      plan = argv[i] + 5;
      if (!pq_plan_open(plan)) return refuse("no follow plan", plan);
    } else if (!strncmp(argv[i], "group=", 6)) {
      if (sscanf(argv[i] + 6, "%d:%d", &run.group, &run.unit) != 2) return refuse("group=GROUP:UNIT", argv[i]);
    } else if (!strcmp(argv[i], "sharing=on")) {
      pq_sharing_on = true;
    } else if (!strcmp(argv[i], "trace=on")) {
      pq_trace.on = true;
    } else if (!strcmp(argv[i], "blocks=on")) {
      pq_executed.on = pq_executed.file = true;
    } else if (!strcmp(argv[i], "files=on")) {
      pq_executed.on = pq_executed.files = true;
    } else if (!strncmp(argv[i], "phases=", 7)) {
      if (!read_phases(argv[i] + 7, &phases)) return refuse("phases=off or intervals, 16 to 4096", argv[i]);
    } else if (!strcmp(argv[i], "follow=on")) {
      run.follow = true;
    } else if (strcmp(argv[i], "mode=full") != 0 && strcmp(argv[i], "follow=off") != 0 &&
               strcmp(argv[i], "trace=off") != 0 && strcmp(argv[i], "sharing=off") != 0 &&
               strcmp(argv[i], "blocks=off") != 0 && strcmp(argv[i], "files=off") != 0) {
      return refuse("unknown argument", argv[i]);
    }
  }
  if (!run.prefix) return refuse("out=PREFIX is missing", "");
  pq_trace.on = pq_trace.on && run.full;
  pq_sharing_on = pq_sharing_on && run.full;
  if (info->system_emulation) return refuse("user-mode emulation only", "");
  if (!strcmp(info->target_name, "x86_64"))
    run.arch = PQ_X86_64;
  else if (!strcmp(info->target_name, "aarch64"))
    run.arch = PQ_AARCH64;
  else
    return refuse("unsupported target", info->target_name);
  if (run.arch == PQ_X86_64 && !pq_x86_open()) return refuse("capstone does not start", "");
  pq_syscalls_open(run.arch);
  char options[3 * PATH_MAX], sampling[128] = "off";
  if (pq_sampling.on)
    snprintf(sampling, sizeof sampling, "%" PRIu64 ":%" PRIu64 ":%g:%" PRIu64 ":%" PRIu64, pq_sampling.first,
             pq_sampling.window, pq_sampling.share, pq_sampling.at_first_ms, pq_sampling.seed);
  char intervals[16] = "off";
  if (phases) snprintf(intervals, sizeof intervals, "%u", phases);
  snprintf(options, sizeof options,
           "out=%s,mode=%s,follow=%s,trace=%s,sharing=%s,blocks=%s,files=%s,phases=%s,sample=%s%s%s%s%s", prefix,
           run.full ? "full" : "mix", run.follow ? "on" : "off", pq_trace.on ? "on" : "off",
           pq_sharing_on ? "on" : "off", pq_executed.file ? "on" : "off", pq_executed.files ? "on" : "off", intervals,
           sampling, *sysroot ? ",sysroot=" : "", sysroot, *plan ? ",plan=" : "", plan);
  if (!pq_follow_open(run.arch, options, sysroot, run.group, run.unit)) return refuse("its own path is unknown", "");
  if (pq_executed.file) pq_executed_open(pq_own_program());
  if (phases) {
    if (!pq_phases_open(&run, phases)) return refuse("out of memory", "");
    pq_executed.on = true;
  }
  if (pthread_atfork(NULL, NULL, in_child)) return refuse("out of memory", "");
  plugin_id = id;
  pq_sampling_open(translate_all_again);
  register_callbacks();
  return 0;
}
