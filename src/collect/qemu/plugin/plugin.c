/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's face to QEMU: translation, execution, memory, system calls.
 *
 * It runs inside QEMU, hence its licence; the rest of the project only reads
 * the files it writes. To build it alone:
 *   gcc -std=gnu11 -O3 -fPIC -shared -o libperfcast_qemu_plugin.so *.c -lcapstone -lm -lpthread
 *   qemu-x86_64 -cpu max -plugin ./libperfcast_qemu_plugin.so,out=/tmp/p,mode=full prog
 */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "output.h"
#include "qemu_api.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

struct pq_vcpu* pq_vcpus[PQ_MAX_VCPUS];

static struct pq_run run;
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
}

static void on_exec_mix_rep(unsigned index, void* data) {
  struct pq_block* b = data;
  struct pq_vcpu* v = pq_vcpus[index];
  struct pq_count* c = count_of(v, index, b);
  c->execs++;
  c->again += runs_again(v->previous, b);
  v->previous = b;
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

static inline void resolve_branch(struct pq_predictors* p, const struct pq_block* from, uint64_t to) {
  if (PQ_LIKELY(from->branch == PQ_BR_COND))
    pq_branch_conditional(p, from->last_pc, to != from->fall_through);
  else if (from->branch > PQ_BR_JUMP)
    resolve_other(p, from, to);
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
  if (PQ_LIKELY(previous != NULL)) resolve_branch(v->predictors, previous, b->pc);
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
  on_exec_full(index, data);
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

static void watch_memory(struct qemu_plugin_insn* insn, const struct pq_insn* i) {
  qemu_plugin_vcpu_mem_cb_t cb = on_both;
  uintptr_t last_byte = 0;
  if (!i->n_load && !i->n_store && !i->mem_unknown) return;
  if (!i->mem_unknown && i->n_load + i->n_store == 1) {
    bool load = i->n_load;
    unsigned size = load ? i->load_size : i->store_size;
    last_byte = size - 1;
    if (size <= 8)
      cb = load ? on_load : on_store;
    else if (size % 8 == 0 && size <= 64)
      cb = load ? on_wide_load : on_wide_store;
  }
  /* Always both directions: QEMU 7.2 calls back for the wrong ones otherwise. */
  qemu_plugin_register_vcpu_mem_cb(insn, cb, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, (void*)last_byte);
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

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  static struct pq_insn insns[MAX_INSNS]; /* under the lock */
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
  if (is_new || run.full) {
    for (size_t i = 0; i < n; i++) {
      struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
      decode(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn), qemu_plugin_insn_vaddr(insn), &insns[i]);
      if (run.full) watch_memory(insn, &insns[i]);
    }
    if (is_new) pq_block_analyse(b, insns, n, last_pc);
  }
  pthread_mutex_unlock(&translating);
  qemu_plugin_register_vcpu_tb_exec_cb(
      tb, run.full ? (b->is_rep ? on_exec_full_rep : on_exec_full) : (b->is_rep ? on_exec_mix_rep : on_exec_mix),
      QEMU_PLUGIN_CB_NO_REGS, b);
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
  pthread_mutex_unlock(&starting);
}

/* A forked child starts from zero, with its parent's warm caches. */
static void in_child(void) {
  uint32_t n = pq_block_total();
  for (uint32_t chunk = 0; chunk << PQ_CHUNK_BITS < n; chunk++)
    memset(pq_count0_chunk(chunk), 0, PQ_CHUNK * sizeof(struct pq_count));
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
  run.threads = 1;
  pthread_mutex_init(&starting, NULL);
  pthread_mutex_init(&translating, NULL);
}

/* The guest's string, where guest addresses are the host's; else empty. */
static void guest_string(uint64_t address, char* to, size_t size) {
  struct iovec local = {to, size - 1}, remote = {(void*)(uintptr_t)address, size - 1};
  size_t to_page_end = 4096 - (address & 4095);
  if (local.iov_len > to_page_end) local.iov_len = remote.iov_len = to_page_end;
  ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  to[n > 0 ? n : 0] = 0;
  for (char* c = to; *c; c++)
    if ((unsigned char)*c < 32) *c = '?';
}

static void on_syscall(qemu_plugin_id_t id, unsigned index, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
  (void)id, (void)a7, (void)a8;
  const uint64_t args[6] = {a1, a2, a3, a4, a5, a6};
  pq_syscall_enter(&pq_vcpus[index]->syscalls, number, args);
  uint64_t path_address;
  if (pq_syscall_is_exec(number, args, &path_address)) {
    char path[512];
    guest_string(path_address, path, sizeof path);
    pq_write(&run, path); /* overwritten at the end, should the exec fail */
  }
}

static void on_syscall_return(qemu_plugin_id_t id, unsigned index, int64_t number, int64_t result) {
  (void)id;
  pq_syscall_return(&pq_vcpus[index]->syscalls, number, result);
}

static void at_exit(qemu_plugin_id_t id, void* data) {
  (void)id, (void)data;
  pq_write(&run, NULL);
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

static int refuse(const char* why, const char* what) {
  fprintf(stderr, "perfcast plugin: %s%s%s\n", why, *what ? ": " : "", what);
  return 1;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  run.full = true;
  for (int i = 0; i < argc; i++) {
    if (!strncmp(argv[i], "out=", 4)) {
      if (!set_prefix(argv[i] + 4)) return refuse("unusable path", argv[i]);
    } else if (!strcmp(argv[i], "mode=mix")) {
      run.full = false;
    } else if (strcmp(argv[i], "mode=full") != 0 && strncmp(argv[i], "tick=", 5) != 0) {
      return refuse("unknown argument", argv[i]);
    }
  }
  if (!run.prefix) return refuse("out=PREFIX is missing", "");
  if (info->system_emulation) return refuse("user-mode emulation only", "");
  if (!strcmp(info->target_name, "x86_64"))
    run.arch = PQ_X86_64;
  else if (!strcmp(info->target_name, "aarch64"))
    run.arch = PQ_AARCH64;
  else
    return refuse("unsupported target", info->target_name);
  if (run.arch == PQ_X86_64 && !pq_x86_open()) return refuse("capstone does not start", "");
  pq_syscalls_open(run.arch);
  if (pthread_atfork(NULL, NULL, in_child)) return refuse("out of memory", "");
  qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
  qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
  qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_return);
  qemu_plugin_register_atexit_cb(id, at_exit, NULL);
  return 0;
}
