/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _GNU_SOURCE
#include "follow.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "follow_plan.h"
#include "syscalls.h"

enum {
  SCRIPT_DEPTH = 4, /* as the kernel */
  HEAD_BYTES = 256,
  MAX_STRINGS = 1 << 20,
  SHOWN_COMMAND_BYTES = 512,
  EXTRA_ARGUMENTS = 16 /* of the emulator, before the program's */
};

extern char** environ;

static char emulator[PATH_MAX], plugin[PATH_MAX], options[3 * PATH_MAX], sysroot[PATH_MAX];
static char own_program[PATH_MAX], own_command[SHOWN_COMMAND_BYTES];
static enum pq_arch own_arch;
static int own_group = -1, own_unit = -1;

const char* pq_own_program(void) { return own_program; }
const char* pq_own_command(void) { return own_command; }

static void make_printable(char* text) {
  for (; *text; text++)
    if ((unsigned char)*text < 32 || *text == 127) *text = '?';
}

/* Our command line ends "-0 ARGV0 PROGRAM ARGUMENTS...". */
static void read_own_command(void) {
  FILE* f = fopen("/proc/self/cmdline", "re");
  if (!f) return;
  char* word = NULL;
  size_t room = 0, used = 0, index = 0, zero_at = 0;
  while (getdelim(&word, &room, 0, f) >= 0) {
    if (index && !zero_at && !strcmp(word, "-0")) zero_at = index;
    bool is_program = zero_at && index == zero_at + 2;
    if (is_program && !realpath(word, own_program)) snprintf(own_program, sizeof own_program, "%s", word);
    if (zero_at && index > zero_at && !is_program && used + 1 < sizeof own_command) {
      int n = snprintf(own_command + used, sizeof own_command - used, "%s%s", used ? " " : "", word);
      used += n > 0 ? (size_t)n : 0;
    }
    index++;
  }
  free(word);
  fclose(f);
  make_printable(own_command);
}

bool pq_follow_open(enum pq_arch arch, const char* plugin_options, const char* libraries, int group, int unit) {
  Dl_info self;
  own_arch = arch;
  own_group = group;
  own_unit = unit;
  read_own_command();
  ssize_t n = readlink("/proc/self/exe", emulator, sizeof emulator - 1);
  if (n <= 0 || !dladdr((void*)pq_follow_open, &self) || !realpath(self.dli_fname, plugin)) return false;
  emulator[n] = 0;
  snprintf(sysroot, sizeof sysroot, "%s", libraries);
  return snprintf(options, sizeof options, "%s,%s", plugin, plugin_options) < (int)sizeof options;
}

/* ---- the guest's memory, where its addresses are the host's ---- */

static bool read_guest(uint64_t address, void* to, size_t size) {
  struct iovec local = {to, size}, remote = {(void*)(uintptr_t)address, size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* NULL where it can't be read or has no end within `limit`. To be freed. */
static char* read_string(uint64_t address, size_t limit) {
  char* text = NULL;
  size_t used = 0;
  while (used < limit) {
    size_t step = 4096 - (address & 4095);
    if (step > limit - used) step = limit - used;
    char* more = realloc(text, used + step + 1);
    if (!more) break;
    text = more;
    if (!read_guest(address, text + used, step)) break;
    text[used + step] = 0;
    if (memchr(text + used, 0, step)) return text;
    used += step;
    address += step;
  }
  free(text);
  return NULL;
}

static void free_strings(char** strings) {
  for (char** s = strings; s && *s; s++) free(*s);
  free(strings);
}

static char** read_strings(uint64_t address) {
  char** strings = NULL;
  size_t n = 0, room = 0;
  for (; n < MAX_STRINGS; n++, address += sizeof(uint64_t)) {
    if (n + 1 >= room) {
      char** more = realloc(strings, (room = room ? room * 2 : 32) * sizeof *strings);
      if (!more) break;
      strings = more;
    }
    uint64_t at = 0;
    strings[n] = NULL;
    if (address - n * sizeof at != 0 && !read_guest(address, &at, sizeof at)) break;
    if (!at) return strings; /* a null vector is an empty one, as for the kernel */
    if (!(strings[n] = read_string(at, 32 * 4096))) break;
  }
  free_strings(strings);
  return NULL;
}

/* ---- what the path leads to ---- */

/* In front of all arguments but the first: a script's interpreter. */
static bool put_interpreter(struct pq_exec_call* call, const char* interpreter, const char* argument) {
  size_t n = 0;
  while (call->arguments[n]) n++;
  char** longer = calloc(n + 4, sizeof *longer);
  if (!longer) return false;
  size_t at = 0;
  longer[at++] = strdup(interpreter);
  if (*argument) longer[at++] = strdup(argument);
  longer[at++] = strdup(call->program);
  for (size_t i = 1; i < n; i++) longer[at++] = call->arguments[i];
  if (n) free(call->arguments[0]);
  free(call->arguments);
  call->arguments = longer;
  snprintf(call->program, sizeof call->program, "%s", interpreter);
  return true;
}

/* "#! INTERPRETER [ARGUMENT]": the rest of the line is one argument. */
static bool read_script_line(char* head, char** interpreter, char** argument) {
  static char none[1];
  char* end = strchr(head, '\n');
  if (!end) return false;
  *end = 0;
  while (end > head && strchr(" \t\r", end[-1])) *--end = 0;
  char* at = head + 2 + strspn(head + 2, " \t");
  size_t length = strcspn(at, " \t");
  *interpreter = at;
  *argument = none;
  if (at[length]) {
    at[length] = 0;
    *argument = at + length + 1 + strspn(at + length + 1, " \t");
  }
  return *at != 0;
}

static bool is_other_identity(const struct stat* facts) {
  return ((facts->st_mode & S_ISUID) && facts->st_uid != geteuid()) ||
         ((facts->st_mode & S_ISGID) && (facts->st_mode & S_IXGRP) && facts->st_gid != getegid());
}

static enum pq_exec unseen(struct pq_exec_call* call, const char* why) {
  call->why_unseen = why;
  return PQ_EXEC_UNSEEN;
}

static enum pq_exec look_at(struct pq_exec_call* call) {
  for (int depth = 0; depth <= SCRIPT_DEPTH; depth++) {
    struct stat facts;
    char head[HEAD_BYTES + 1];
    if (stat(call->program, &facts) || !S_ISREG(facts.st_mode) || access(call->program, X_OK)) return PQ_EXEC_FAILS;
    if (is_other_identity(&facts)) return unseen(call, "setuid");
    int file = open(call->program, O_RDONLY | O_CLOEXEC);
    if (file < 0) return unseen(call, "unreadable");
    ssize_t n = read(file, head, HEAD_BYTES);
    close(file);
    if (n < 0) return unseen(call, "unreadable");
    head[n] = 0;
    if (n >= 2 && head[0] == '#' && head[1] == '!') {
      char *interpreter, *argument;
      if (!read_script_line(head, &interpreter, &argument)) return PQ_EXEC_FAILS;
      if (!put_interpreter(call, interpreter, argument)) return unseen(call, "memory");
      continue;
    }
    Elf64_Ehdr* elf = (Elf64_Ehdr*)head;
    if (n < (ssize_t)sizeof *elf || memcmp(elf->e_ident, ELFMAG, SELFMAG))
      return PQ_EXEC_FAILS; /* sh reads it itself */
    if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_ident[EI_DATA] != ELFDATA2LSB)
      return unseen(call, "other-architecture");
    if (elf->e_machine != EM_X86_64 && elf->e_machine != EM_AARCH64) return unseen(call, "other-architecture");
    call->arch = elf->e_machine == EM_X86_64 ? PQ_X86_64 : PQ_AARCH64;
    return PQ_EXEC_FOLLOWED;
  }
  return PQ_EXEC_FAILS;
}

static bool read_path(int64_t number, const uint64_t args[6], char* to) {
  bool at = pq_syscall_is_exec_at(number);
  char* path = read_string(args[at ? 1 : 0], PATH_MAX);
  if (!path) return false;
  int n;
  if (!strcmp(path, "/proc/self/exe"))
    n = snprintf(to, PATH_MAX, "%s", own_program);
  else if (!at || path[0] == '/' || (int)args[0] == AT_FDCWD)
    n = snprintf(to, PATH_MAX, "%s", path);
  else
    n = snprintf(to, PATH_MAX, "/proc/self/fd/%d%s%s", (int)args[0], *path ? "/" : "", path);
  free(path);
  return n > 0 && n < PATH_MAX;
}

enum pq_exec pq_exec_inspect(int64_t number, const uint64_t args[6], struct pq_exec_call* call, bool follow) {
  memset(call, 0, sizeof *call);
  bool at = pq_syscall_is_exec_at(number);
  if (!read_path(number, args, call->path)) return PQ_EXEC_FAILS;
  memcpy(call->program, call->path, sizeof call->program);
  call->arguments = read_strings(args[at ? 2 : 1]);
  call->environment = read_strings(args[at ? 3 : 2]);
  if (!call->arguments || !call->environment) return PQ_EXEC_FAILS;
  call->group = own_group;
  call->unit = own_unit;
  const enum pq_exec what = look_at(call);
  if (what == PQ_EXEC_FOLLOWED && !follow) return unseen(call, "not-asked-for");
  /* a member of a group is followed with all that it starts */
  if (what == PQ_EXEC_FOLLOWED && own_group < 0 && !pq_plan_follows(call->arguments, &call->group, &call->unit))
    return unseen(call, "by-plan");
  return what;
}

void pq_exec_free(struct pq_exec_call* call) {
  free_strings(call->arguments);
  free_strings(call->environment);
}

/* ---- starting the emulator again ---- */

/* The program's own loader settings would act on the emulator, a program of the
 * host: they are handed over as settings of the guest. */
static size_t hand_over_loader_settings(char** environment, char** arguments, size_t n, bool* preloads) {
  static const char* const names[] = {"LD_PRELOAD=", "LD_LIBRARY_PATH=", "LD_AUDIT=", "LD_BIND_NOW="};
  char** kept = environment;
  for (char** e = environment; *e; e++) {
    bool of_loader = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) of_loader |= !strncmp(*e, names[i], strlen(names[i]));
    /* -E splits at commas */
    if (of_loader && !strchr(*e, ',') && n + 8 < EXTRA_ARGUMENTS) {
      *preloads |= !strncmp(*e, names[0], strlen(names[0]));
      arguments[n++] = (char*)"-E";
      arguments[n++] = *e;
    } else {
      *kept++ = *e;
    }
  }
  *kept = NULL;
  return n;
}

/* The plugin is loaded before the C library too, to see fatal signals (plugin.c).
 * NULL where the guest's own setting could not be taken out. */
static char** with_preload(char** environment, char* preload, size_t size) {
  size_t n = 0;
  for (; environment[n]; n++)
    if (!strncmp(environment[n], "LD_PRELOAD=", 11)) return NULL;
  char** longer = calloc(n + 2, sizeof *longer);
  if (!longer) return NULL;
  memcpy(longer, environment, n * sizeof *longer);
  snprintf(preload, size, "LD_PRELOAD=%s", plugin);
  longer[n] = preload;
  return longer;
}

/* A descriptor that an exec closes: the kernel has opened the program by then, the emulator has not. */
static void keep_descriptor(const char* program) {
  int descriptor, end = 0;
  if (sscanf(program, "/proc/self/fd/%d%n", &descriptor, &end) < 1 &&
      sscanf(program, "/dev/fd/%d%n", &descriptor, &end) < 1)
    return;
  if (!program[end]) fcntl(descriptor, F_SETFD, 0);
}

void pq_exec_follow(struct pq_exec_call* call) {
  char path[PATH_MAX + 16], program[PATH_MAX + 2], preload[PATH_MAX + 16];
  size_t n_arguments = 0, n = 0;
  while (call->arguments[n_arguments]) n_arguments++;
  char** arguments = calloc(EXTRA_ARGUMENTS + n_arguments + 4, sizeof *arguments);
  if (!arguments) return;
  snprintf(path, sizeof path, "%s", emulator);
  if (call->arch != own_arch) {
    char* name = strrchr(path, '/');
    snprintf(name, sizeof path - (size_t)(name - path), "/qemu-%s", call->arch == PQ_X86_64 ? "x86_64" : "aarch64");
  }
  snprintf(program, sizeof program, "%s%s", call->program[0] == '-' ? "./" : "", call->program);
  arguments[n++] = path;
  arguments[n++] = (char*)"-cpu";
  arguments[n++] = (char*)"max";
  arguments[n++] = (char*)"-plugin";
  char grouped[sizeof options + 32];
  snprintf(grouped, sizeof grouped, call->group < 0 ? "%s" : "%s,group=%d:%d", options, call->group, call->unit);
  arguments[n++] = grouped;
  if (*sysroot && call->arch == PQ_AARCH64) {
    arguments[n++] = (char*)"-L";
    arguments[n++] = sysroot;
  }
  bool preloads = false;
  n = hand_over_loader_settings(call->environment, arguments, n, &preloads);
  char** environment = with_preload(call->environment, preload, sizeof preload);
  if (environment && !preloads) {
    arguments[n++] = (char*)"-U";
    arguments[n++] = (char*)"LD_PRELOAD";
  }
  arguments[n++] = (char*)"-0";
  arguments[n++] = n_arguments ? call->arguments[0] : (char*)"";
  arguments[n++] = program;
  for (size_t i = 1; i < n_arguments; i++) arguments[n++] = call->arguments[i];
  keep_descriptor(call->program);
  execve(path, arguments, environment ? environment : call->environment);
  free(environment);
  free(arguments);
}
