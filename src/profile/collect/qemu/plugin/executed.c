/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "executed.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
  MOST_MAPPINGS = 4096,
  MOST_READS = 4096, /* of /proc/self/maps; further ones only after the guest mapped a file to execute */
  MOST_ENDS = 16,    /* functions that a program runs at its end, of those that its file names */
  MOST_FILES = 512,  /* of the counts */
  MOST_HEADERS = 64,
  MOST_DYNAMIC = 512,
  LINE_BYTES = PATH_MAX + 256
};

/* Addresses of the guest. */
struct mapping {
  uint64_t start, end, offset;
  char* path;  /* "": no file, code that the program made */
  bool closed; /* it is there no more: what lies at these addresses now is something else */
};

/* What a program's file says of itself. */
struct program {
  bool known;
  char path[PATH_MAX];
  uint64_t entry, entry_offset;            /* of its first instruction: as the file numbers it, and in the file */
  uint64_t end_functions, n_end_functions; /* where an array of their addresses is */
};

/* How often each block had run at some time. */
struct snapshot {
  uint64_t* executions;
  uint32_t n;
};

struct pq_executed pq_executed;

/* Of all that follows; taken under the translation lock or alone. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping mappings[MOST_MAPPINGS];
static unsigned n_mappings, latest, reads;
static bool has_new_file;
static struct program program;
static uint64_t entry, ends[MOST_ENDS]; /* addresses in this process; 0: not known yet */
static unsigned n_ends;
static struct snapshot at_entry, at_end;

/* ---- the program's file ---- */

static bool read_at(int file, void* to, size_t size, uint64_t offset) {
  return offset < INT64_MAX && pread(file, to, size, (off_t)offset) == (ssize_t)size;
}

static void read_dynamic(int file, const Elf64_Phdr* dynamic) {
  uint64_t bytes = 0;
  for (unsigned i = 0; i < MOST_DYNAMIC && (i + 1) * sizeof(Elf64_Dyn) <= dynamic->p_filesz; i++) {
    Elf64_Dyn d;
    if (!read_at(file, &d, sizeof d, dynamic->p_offset + i * sizeof d) || d.d_tag == DT_NULL) break;
    if (d.d_tag == DT_FINI_ARRAY) program.end_functions = d.d_un.d_ptr;
    if (d.d_tag == DT_FINI_ARRAYSZ) bytes = d.d_un.d_val;
  }
  program.n_end_functions = bytes / sizeof(uint64_t);
}

static bool read_program(int file) {
  Elf64_Ehdr h;
  if (!read_at(file, &h, sizeof h, 0) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof(Elf64_Phdr)) return false;
  program.entry = h.e_entry;
  bool has_entry = false;
  for (unsigned i = 0; i < h.e_phnum && i < MOST_HEADERS; i++) {
    Elf64_Phdr p;
    if (!read_at(file, &p, sizeof p, h.e_phoff + i * sizeof p)) return false;
    if (p.p_type == PT_DYNAMIC) read_dynamic(file, &p);
    if (p.p_type != PT_LOAD || h.e_entry < p.p_vaddr || h.e_entry - p.p_vaddr >= p.p_filesz) continue;
    program.entry_offset = p.p_offset + (h.e_entry - p.p_vaddr);
    has_entry = true;
  }
  return has_entry;
}

void pq_executed_open(const char* path) {
  const int file = *path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  if (read_program(file) && realpath(path, program.path)) program.known = true;
  close(file);
}

/* ---- mappings ---- */

static bool holds(const struct mapping* m, uint64_t address) { return address >= m->start && address < m->end; }

/* Mappings have numbers from 1 on; 0: none that is known. */
static unsigned find(uint64_t address) {
  if (latest && !mappings[latest - 1].closed && holds(&mappings[latest - 1], address)) return latest;
  for (unsigned i = n_mappings; i > 0; i--)
    if (!mappings[i - 1].closed && holds(&mappings[i - 1], address)) return latest = i;
  return 0;
}

/* What has no file to look things up in is code that the program made, whatever it is called. */
static bool is_file(const char* path) {
  static const char* const others[] = {"/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage"};
  if (path[0] != '/') return false;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!strncmp(path, others[i], strlen(others[i]))) return false;
  return true;
}

/* QEMU write-protects pages that were translated, which splits what the guest mapped as one: pieces that go on where
 * the one before them ends are one again. */
static bool continues(const struct mapping* m, uint64_t start, uint64_t offset, const char* path) {
  if (m->end != start || strcmp(m->path, path) != 0) return false;
  return !*path || m->offset + (m->end - m->start) == offset;
}

/* The mapping that holds `host`; its addresses are the emulator's. */
static bool look_up(uint64_t host, struct mapping* found, char line[LINE_BYTES], char path[LINE_BYTES]) {
  FILE* f = fopen("/proc/self/maps", "re");
  if (!f) return false;
  found->end = 0;
  found->path = path;
  path[0] = 0;
  while (fgets(line, LINE_BYTES, f)) {
    uint64_t start, end, offset;
    int at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &start, &end, &offset, &at) != 3 || !at)
      continue;
    line[strcspn(line, "\n")] = 0;
    const char* name = is_file(line + at) ? line + at : "";
    if (found->end && continues(found, start, offset, name)) {
      found->end = end;
      continue;
    }
    if (found->end && holds(found, host)) break;
    found->start = start;
    found->end = end;
    found->offset = *name ? offset : 0;
    strcpy(path, name);
  }
  fclose(f);
  return found->end && holds(found, host);
}

/* The same piece of a file as before, which may have been closed or seen in part, or more of the code that was made
 * there: that one again. */
static unsigned known_as(const struct mapping* m) {
  for (unsigned i = n_mappings; i > 0; i--) {
    struct mapping* old = &mappings[i - 1];
    if (strcmp(old->path, m->path) != 0 || m->start > old->end || old->start > m->end) continue;
    if (*m->path ? m->start - m->offset != old->start - old->offset : old->closed) continue;
    old->closed = false;
    if (m->end > old->end) old->end = m->end;
    if (m->start < old->start) {
      old->start = m->start;
      old->offset = m->offset;
    }
    return latest = i;
  }
  return 0;
}

static void note_program(const struct mapping* m) {
  if (entry || !program.known || strcmp(m->path, program.path) != 0) return;
  if (program.entry_offset >= m->offset && program.entry_offset - m->offset < m->end - m->start)
    entry = m->start + (program.entry_offset - m->offset);
}

static unsigned find_anew(uint64_t pc, const void* host) {
  static char line[LINE_BYTES], path[LINE_BYTES]; /* under the lock */
  if (!host || (reads >= MOST_READS && !has_new_file)) return 0;
  reads++;
  has_new_file = false;
  struct mapping m;
  if (!look_up((uint64_t)(uintptr_t)host, &m, line, path)) return 0;
  const uint64_t base = (uint64_t)(uintptr_t)host - pc; /* where the guest's address 0 is in the emulator */
  m.start -= base;
  m.end -= base;
  m.closed = false;
  note_program(&m);
  const unsigned old = known_as(&m);
  if (old) return old;
  if (n_mappings == MOST_MAPPINGS || !(m.path = strdup(path))) return 0;
  mappings[n_mappings++] = m;
  return latest = n_mappings;
}

/* Code that was made is made anew wherever it was, unless a file takes its place. */
static void close_overlapped(uint64_t start, uint64_t bytes, bool made_too) {
  const uint64_t end = bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes;
  for (unsigned i = 0; i < n_mappings; i++) {
    struct mapping* m = &mappings[i];
    if ((*m->path || made_too) && start < m->end && m->start < end) m->closed = true;
  }
}

void pq_executed_call(const struct pq_run* run, struct pq_vcpu* v, int64_t number, const uint64_t args[6]) {
  static const struct {
    int64_t map, unmap, remap;
  } calls[] = {[PQ_X86_64] = {9, 11, 25}, [PQ_AARCH64] = {222, 215, 216}};
  enum { EXECUTE = 4, FIXED = 0x10, ANONYMOUS = 0x20, REMAP_FIXED = 2 };
  const bool maps = number == calls[run->arch].map, remaps = number == calls[run->arch].remap;
  v->executable_bytes = maps && (args[2] & EXECUTE) && !(args[3] & ANONYMOUS) ? args[1] : 0;
  const bool replaces = maps && (args[3] & FIXED) && !v->executable_bytes;
  if (!replaces && !remaps && number != calls[run->arch].unmap) return;
  pthread_mutex_lock(&lock);
  close_overlapped(args[0], args[1], false);
  if (remaps && (args[3] & REMAP_FIXED)) close_overlapped(args[4], args[2], false);
  pthread_mutex_unlock(&lock);
}

void pq_executed_return(struct pq_vcpu* v, int64_t result) {
  const uint64_t bytes = v->executable_bytes;
  v->executable_bytes = 0;
  if (!bytes || (result < 0 && result >= -4095)) return;
  pthread_mutex_lock(&lock);
  close_overlapped((uint64_t)result, bytes, true);
  has_new_file = true;
  pthread_mutex_unlock(&lock);
}

/* ---- the program's start and end ---- */

static void take(const struct pq_run* run, struct snapshot* s) {
  const uint32_t n = pq_block_total();
  if (!(s->executions = malloc((n ? n : 1) * sizeof *s->executions))) return;
  s->n = n;
  for (uint32_t id = 0; id < n; id++) s->executions[id] = pq_executions_of(run, pq_block_at(id)).executions;
}

static uint64_t executions_then(const struct snapshot* s, uint32_t id) { return id < s->n ? s->executions[id] : 0; }

/* The loader has put the addresses of the functions into the program's memory by now. */
static void read_ends(const void* host, uint64_t pc) {
  const uint64_t base = (uint64_t)(uintptr_t)host - pc, bias = entry - program.entry;
  n_ends = program.n_end_functions > MOST_ENDS ? MOST_ENDS : (unsigned)program.n_end_functions;
  struct iovec to = {ends, n_ends * sizeof *ends};
  struct iovec from = {(void*)(uintptr_t)(base + bias + program.end_functions), to.iov_len};
  if (n_ends && process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)to.iov_len) n_ends = 0;
}

static bool is_end(uint64_t pc) {
  for (unsigned i = 0; i < n_ends; i++)
    if (ends[i] == pc) return true;
  return false;
}

void pq_executed_translate(const struct pq_run* run, struct pq_block* b, const void* host) {
  pthread_mutex_lock(&lock);
  if (!b->mapping && !(b->mapping = find(b->pc))) b->mapping = find_anew(b->pc, host);
  if (entry && b->pc == entry && !at_entry.executions) {
    take(run, &at_entry);
    if (host) read_ends(host, b->pc);
  } else if (n_ends && !at_end.executions && is_end(b->pc)) {
    take(run, &at_end);
  }
  pthread_mutex_unlock(&lock);
}

const char* pq_executed_place(const struct pq_block* b, uint64_t* offset) {
  if (!b->mapping) return NULL;
  const struct mapping* m = &mappings[b->mapping - 1];
  *offset = b->pc - m->start + m->offset;
  return m->path;
}

void pq_executed_forked(void) {
  pthread_mutex_init(&lock, NULL);
  at_entry.n = at_end.n = 0; /* what was counted before counts in the parent */
}

/* ---- the file ---- */

static void write_block(FILE* f, const struct pq_run* run, const struct pq_block* b) {
  const struct pq_executions ran = pq_executions_of(run, b);
  if (!ran.executions && !ran.iterations) return;
  /* iterations of plain phases are estimates, which may fall */
  uint64_t before = executions_then(&at_entry, b->id), until_end = executions_then(&at_end, b->id);
  if (before > ran.executions) before = ran.executions;
  uint64_t since_end = at_end.executions && until_end < ran.executions ? ran.executions - until_end : 0;
  if (since_end > ran.executions - before) since_end = ran.executions - before;
  fprintf(f, "%u %" PRIx64 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", b->mapping, b->pc,
          b->n_bytes, ran.executions, ran.iterations, before, since_end);
}

/* Moves, logic and shuffles are left out: compilers take them to clear and copy small structures. */
static bool has_vector_arithmetic(const struct pq_block* b) {
  static const uint8_t classes[] = {PQ_OP_FP_VEC_ADD,   PQ_OP_FP_VEC_MUL,  PQ_OP_FP_VEC_DIV, PQ_OP_FP_FMA_VEC,
                                    PQ_OP_FP_VEC_OTHER, PQ_OP_VEC_INT_ALU, PQ_OP_VEC_INT_MUL};
  for (size_t i = 0; i < sizeof classes; i++)
    if (b->stat[classes[i]]) return true;
  return false;
}

void pq_executed_put_files(FILE* f, const struct pq_run* run) {
  static struct { uint64_t instructions, vector; } sums[MOST_MAPPINGS + 1]; /* 0: all code without a file */
  memset(sums, 0, sizeof sums);
  for (uint32_t id = 0, n = pq_block_total(); id < n; id++) {
    const struct pq_block* b = pq_block_at(id);
    const uint64_t ran = pq_executions_of(run, b).executions * b->n_insns;
    const unsigned at = b->mapping && *mappings[b->mapping - 1].path ? b->mapping : 0;
    sums[at].instructions += ran;
    if (has_vector_arithmetic(b)) sums[at].vector += ran;
  }
  for (unsigned i = 0, lines = 0; i <= n_mappings && lines < MOST_FILES; i++) {
    const struct mapping* m = i ? &mappings[i - 1] : NULL;
    if (!sums[i].instructions || (m && strpbrk(m->path, "\n\r"))) continue;
    fprintf(f, "file %" PRIu64 " %" PRIu64 " %s\n", sums[i].instructions, sums[i].vector, m ? m->path : "");
    lines++;
  }
}

bool pq_executed_write(const char* path, const struct pq_run* run) {
  FILE* f = fopen(path, "we");
  if (!f) return false;
  fputs("perfcast-blocks 1\n", f);
  if (at_entry.executions) fprintf(f, "entry %" PRIx64 "\n", entry);
  for (unsigned i = 0; i < n_mappings; i++) {
    const struct mapping* m = &mappings[i];
    fprintf(f, "mapping %" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n", m->start, m->end, m->offset, m->path);
  }
  for (uint32_t id = 0, n = pq_block_total(); id < n; id++) write_block(f, run, pq_block_at(id));
  fputs("end 1\n", f);
  const bool ok = !ferror(f);
  return fclose(f) == 0 && ok;
}
