/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "sharing.h"

#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  ENTRIES = 1 << 16,
  USERS = 4,           /* threads told apart; the last one stands for all further ones, too */
  TRIES = 256,         /* to lock an entry: an access more or less is of no matter */
  LEAST_TRANSFERS = 4, /* of a line that is written down: one that is handed on once is not shared */
  MOST_LINES = 64,
  OTHERS = INT32_MAX, /* thread number of several */
  MOST_MAPPINGS = 4096
};

struct user {
  uint32_t thread;        /* vCPU + 1 */
  uint64_t written, read; /* a bit for each byte */
  uint64_t writes, reads, atomics;
  uint64_t pc; /* of most writes, by Boyer and Moore's vote; of a thread that only reads: of most reads */
  uint64_t votes;
};

/* Direct-mapped. A line of one thread alone gives way to any other, one of several stays. */
struct entry {
  atomic_flag busy;
  uint32_t n_users;
  uint64_t line;      /* + 1; 0: free */
  uint64_t transfers; /* accesses that found the line in another core's cache, had each thread a core */
  uint64_t of_data;   /* of them, those of bytes that another thread wrote last */
  uint32_t holders;   /* users with a valid copy, a bit each */
  uint8_t writer[64]; /* of each byte: the user who wrote it last + 1 */
  struct user by[USERS];
};

/* Apart, so that what counts sharing shares no line. */
struct seen {
  uint64_t accesses, dropped, pad[6];
};

bool pq_sharing_on;

static struct entry* _Atomic table;
static struct seen seen[PQ_MAX_VCPUS];
static uint64_t host_minus_guest; /* of code addresses */

static struct entry* entries(void) {
  struct entry* now = atomic_load_explicit(&table, memory_order_acquire);
  if (PQ_LIKELY(now != NULL)) return now;
  struct entry* fresh = calloc(ENTRIES, sizeof *fresh);
  if (!fresh) return NULL;
  if (atomic_compare_exchange_strong(&table, &now, fresh)) return fresh;
  free(fresh);
  return now;
}

static bool lock(struct entry* e) {
  for (unsigned i = 0; i < TRIES; i++)
    if (!atomic_flag_test_and_set_explicit(&e->busy, memory_order_acquire)) return true;
  return false;
}

static void unlock(struct entry* e) { atomic_flag_clear_explicit(&e->busy, memory_order_release); }

static struct user* user_of(struct entry* e, uint32_t thread) {
  for (unsigned i = 0; i < e->n_users; i++)
    if (e->by[i].thread == thread) return &e->by[i];
  if (e->n_users == USERS) {
    e->by[USERS - 1].thread = OTHERS;
    return &e->by[USERS - 1];
  }
  struct user* u = &e->by[e->n_users++];
  memset(u, 0, sizeof *u);
  u->thread = thread;
  return u;
}

static void vote(struct user* u, uint64_t pc) {
  if (u->pc == pc) {
    u->votes++;
  } else if (u->votes == 0) {
    u->pc = pc;
    u->votes = 1;
  } else {
    u->votes--;
  }
}

static uint64_t bits(unsigned from, unsigned count) {
  return (count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1) << from;
}

struct access {
  uint32_t thread;
  unsigned first, count; /* bytes of the line */
  uint64_t line, pc;
  bool store, atomic;
};

/* `first` and `count`: of the bytes. */
static bool are_of_another(const struct entry* e, unsigned first, unsigned count, unsigned user) {
  for (unsigned i = first; i < first + count; i++)
    if (e->writer[i] && e->writer[i] != user + 1) return true;
  return false;
}

static void note(struct entry* e, const struct access* a) {
  struct user* u = user_of(e, a->thread);
  const unsigned number = (unsigned)(u - e->by);
  const uint32_t own = UINT32_C(1) << number;
  const bool travels = a->store ? e->holders != own && e->holders != 0 : !(e->holders & own);
  if (travels) {
    e->transfers++;
    e->of_data += are_of_another(e, a->first, a->count, number);
  }
  if (a->store) {
    e->holders = own;
    memset(&e->writer[a->first], (int)number + 1, a->count);
    if (u->writes == 0) u->votes = 0; /* where it read from is of no matter any more */
    u->writes++;
    u->atomics += a->atomic;
    u->written |= bits(a->first, a->count);
    vote(u, a->pc);
  } else {
    e->holders |= own;
    u->reads++;
    u->read |= bits(a->first, a->count);
    if (u->writes == 0) vote(u, a->pc);
  }
}

/* Lines are entered by those who write them. */
static bool record(const struct access* a) {
  struct entry* all = entries();
  if (!all) return false;
  struct entry* e = &all[(a->line * UINT64_C(0x9e3779b97f4a7c15)) >> 48];
  bool noted = true;
  if (!a->store && e->line != a->line + 1) return true; /* a torn look costs an access */
  if (!lock(e)) return false;
  if (e->line != a->line + 1 && a->store) {
    if (e->n_users < 2) {
      e->line = a->line + 1;
      e->transfers = e->of_data = 0;
      e->n_users = e->holders = 0;
      memset(e->writer, 0, sizeof e->writer);
    } else {
      noted = false;
    }
  }
  if (e->line == a->line + 1) note(e, a);
  unlock(e);
  return noted;
}

static void on_access(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  const uint64_t code = (uintptr_t)data;
  unsigned left = 1u << qemu_plugin_mem_size_shift(info);
  struct access a = {
      .thread = index + 1, .store = qemu_plugin_mem_is_store(info), .pc = code >> 1, .atomic = (code & 1) != 0};
  seen[index].accesses++;
  while (left) {
    a.line = address >> PQ_LINE_BITS;
    a.first = (unsigned)(address & 63);
    a.count = left < 64 - a.first ? left : 64 - a.first;
    if (!record(&a)) seen[index].dropped++;
    address += a.count;
    left -= a.count;
  }
}

void pq_sharing_watch(struct qemu_plugin_tb* tb, const struct pq_block* b) {
  if (!pq_vcpus[1]) return;
  for (unsigned i = 0; i < b->n_watched; i++) {
    const struct pq_watched* w = &b->watched[i];
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, w->insn);
    const uint64_t pc = qemu_plugin_insn_vaddr(insn);
    const void* host = qemu_plugin_insn_haddr(insn);
    if (host) host_minus_guest = (uint64_t)(uintptr_t)host - pc;
    qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                     (void*)(uintptr_t)(pc << 1 | w->is_atomic));
  }
}

void pq_sharing_forked(void) {
  struct entry* all = atomic_load_explicit(&table, memory_order_acquire);
  if (all) memset(all, 0, ENTRIES * sizeof *all); /* what other threads had locked, too */
  memset(seen, 0, sizeof seen);
}

/* ---- the file ---- */

struct mapping {
  uint64_t from, to, offset;
  char* path;
};

static struct mapping* read_mappings(size_t* n) {
  FILE* f = fopen("/proc/self/maps", "re");
  struct mapping* all = calloc(MOST_MAPPINGS, sizeof *all);
  char* line = NULL;
  size_t size = 0;
  *n = 0;
  while (f && all && *n < MOST_MAPPINGS && getline(&line, &size, f) > 0) {
    struct mapping* m = &all[*n];
    int path = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &m->from, &m->to, &m->offset, &path) != 3 ||
        line[path] != '/')
      continue;
    line[strcspn(line, "\n")] = 0;
    m->path = strdup(line + path);
    *n += m->path != NULL;
  }
  free(line);
  if (f) fclose(f);
  return all;
}

static void put_code(FILE* f, uint64_t pc, const struct mapping* all, size_t n) {
  const uint64_t at = pc + host_minus_guest;
  for (size_t i = 0; i < n; i++) {
    if (at < all[i].from || at >= all[i].to) continue;
    fprintf(f, " code %" PRIx64 " %s\n", at - all[i].from + all[i].offset, all[i].path);
    return;
  }
  fputs(" code 0 -\n", f);
}

static unsigned writers_of(const struct entry* e) {
  unsigned n = 0;
  for (unsigned i = 0; i < e->n_users; i++) n += e->by[i].writes > 0;
  return n;
}

/* Accesses of all but the thread that has most: what there is to contend with. */
static uint64_t contended(const struct entry* e) {
  uint64_t sum = 0, most = 0;
  for (unsigned i = 0; i < e->n_users; i++) {
    const uint64_t n = e->by[i].writes + e->by[i].reads;
    sum += n;
    if (n > most) most = n;
  }
  return sum - most;
}

static int by_contention(const void* a, const void* b) {
  const uint64_t x = contended(*(struct entry*const*)a), y = contended(*(struct entry*const*)b);
  return (x < y) - (x > y);
}

static void put_lines(FILE* f, struct entry** chosen, size_t n) {
  size_t n_mappings;
  struct mapping* mappings = read_mappings(&n_mappings);
  for (size_t i = 0; i < n && i < MOST_LINES; i++) {
    const struct entry* e = chosen[i];
    fprintf(f, "line %" PRIx64 " transfers %" PRIu64 " of_data %" PRIu64 "\n", (e->line - 1) << PQ_LINE_BITS,
            e->transfers, e->of_data);
    for (unsigned k = 0; k < e->n_users; k++) {
      const struct user* u = &e->by[k];
      fprintf(f,
              "user %" PRIu32 " writes %" PRIu64 " reads %" PRIu64 " atomic %" PRIu64 " written %" PRIx64
              " read %" PRIx64,
              u->thread, u->writes, u->reads, u->atomics, u->written, u->read);
      put_code(f, u->pc, mappings, n_mappings);
    }
  }
  for (size_t i = 0; i < n_mappings; i++) free(mappings[i].path);
  free(mappings);
}

/* Other threads may still run: what they do to an entry meanwhile is torn at worst. */
bool pq_sharing_write(const char* path) {
  struct entry* all = atomic_load_explicit(&table, memory_order_acquire);
  uint64_t accesses = 0, dropped = 0;
  size_t n = 0;
  char temporary[PATH_MAX + 512];
  const int length = snprintf(temporary, sizeof temporary, "%s.tmp", path);
  struct entry** chosen = malloc(ENTRIES * sizeof *chosen);
  FILE* f = chosen && length > 0 && (size_t)length < sizeof temporary ? fopen(temporary, "we") : NULL;
  if (!f) {
    free(chosen);
    return false;
  }
  for (unsigned i = 0; i < PQ_MAX_VCPUS && pq_vcpus[i]; i++) {
    accesses += seen[i].accesses;
    dropped += seen[i].dropped;
  }
  for (size_t i = 0; all && i < ENTRIES; i++)
    if (all[i].transfers >= LEAST_TRANSFERS && writers_of(&all[i]) > 1) chosen[n++] = &all[i];
  qsort(chosen, n, sizeof *chosen, by_contention);
  fprintf(f, "perfcast-sharing 1\naccesses %" PRIu64 "\ndropped %" PRIu64 "\n", accesses, dropped);
  put_lines(f, chosen, n);
  fputs("end 1\n", f);
  free(chosen);
  bool ok = !ferror(f);
  ok = fclose(f) == 0 && ok;
  ok = ok && rename(temporary, path) == 0;
  if (!ok) unlink(temporary);
  return ok;
}
