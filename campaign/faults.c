// A preloaded library that makes the system calls of a program fail, or that forgets what was not synced.
//
// The environment says what happens (all of it is inherited by child processes):
//   FAULT=KIND[:N]      the N-th call that the kind concerns fails, counted in each process from 1:
//     enospc:N          and every later one: writes, new files and folders, for regular files only
//     enomem:N          that one alone: malloc, calloc, realloc, aligned_alloc, mmap
//     emfile:N          and every later one, but for as many as were closed since: whatever returns a new descriptor
//     eintr             every third read and write is interrupted
//     short             reads and writes transfer at most 7 bytes
//     slow              reads and writes of files take a millisecond longer
//     clock             the wall clock jumps by an hour, to and fro, at every tenth look
// Calls count from the beginning of main() on: what libraries do before it can't be helped.
//   FAULT_IN=NAME       only in processes of this program
//   FAULT_COUNT=FILE    keeps in that file (8 bytes, shared by nobody) how many calls the process has made
//   SYNCED=FOLDER       keeps there what fsync made durable, a file "INODE" each. What a power loss leaves can be made from it
//   SYNCED_BELOW=PATH   only files below this path count
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind { kNone, kDiskFull, kNoMemory, kNoDescriptors, kInterrupted, kShort, kSlow, kClock };
static enum kind fault;
static long fault_at;
static atomic_long own_count;
static atomic_long* count = &own_count;
static const char* synced;
static const char* synced_below;

// The next definition of a function: found when it is first needed, as constructors of other libraries may come before ours.
#define NEXT(name) ((__typeof__(&name))next_of(#name))
static void* next_of(const char* name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
  const char* said = getenv("FAULT");
  static const struct {
    const char* name;
    enum kind kind;
  } kinds[] = {{"enospc", kDiskFull}, {"enomem", kNoMemory}, {"emfile", kNoDescriptors}, {"eintr", kInterrupted},
               {"short", kShort},     {"slow", kSlow},       {"clock", kClock}};
  if (said != NULL) {
    const size_t length = strcspn(said, ":");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i)
      if (strlen(kinds[i].name) == length && strncmp(said, kinds[i].name, length) == 0) fault = kinds[i].kind;
    if (said[length] == ':') fault_at = atol(said + length + 1);
  }
  const char* only = getenv("FAULT_IN");
  if (only != NULL && strcmp(only, program_invocation_short_name) != 0) fault = kNone;
  const char* counted = getenv("FAULT_COUNT");
  if (counted != NULL && fault != kNone) {
    const int file = (int)syscall(SYS_openat, AT_FDCWD, counted, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0 && syscall(SYS_ftruncate, file, sizeof(long)) == 0) {
      void* shared = (void*)syscall(SYS_mmap, NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (shared != MAP_FAILED) count = shared;
    }
    if (file >= 0) syscall(SYS_close, file);
  }
  synced = getenv("SYNCED");
  synced_below = getenv("SYNCED_BELOW");
}

static atomic_bool has_begun;
static int (*real_main)(int, char**, char**);
static int main_with_faults(int words_count, char** words, char** environment) {
  atomic_store(&has_begun, true);
  return real_main(words_count, words, environment);
}
int __libc_start_main(int (*main)(int, char**, char**), int words_count, char** words, int (*init)(int, char**, char**),
                      void (*finish)(void), void (*finish_loader)(void), void* stack) {
  int (*next)(int (*)(int, char**, char**), int, char**, int (*)(int, char**, char**), void (*)(void), void (*)(void), void*) =
      next_of("__libc_start_main");
  real_main = main;
  return next(main_with_faults, words_count, words, init, finish, finish_loader, stack);
}

// Whether this call fails. Kinds of one call that fails go on with success; the others stay as they are: a full disk stays full.
static bool fails(enum kind kind) {
  if (fault != kind || !atomic_load(&has_begun)) return false;
  const long number = atomic_fetch_add(count, 1) + 1;
  if (fault_at == 0) return false;
  return kind == kNoMemory ? number == fault_at : number >= fault_at;
}

static bool is_file(int descriptor) {
  struct stat facts;
  return syscall(SYS_fstat, descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
}

static bool is_full(int descriptor) {
  if (fault != kDiskFull || !is_file(descriptor) || !fails(kDiskFull)) return false;
  errno = ENOSPC;
  return true;
}

static atomic_long transfers;
// -1: interrupted, else how many bytes may be transferred.
static ssize_t allowed(int descriptor, size_t size) {
  if (fault == kInterrupted && atomic_fetch_add(&transfers, 1) % 3 == 2) {
    errno = EINTR;
    return -1;
  }
  if (fault == kSlow && is_file(descriptor)) {
    const struct timespec pause = {0, 1000000};
    syscall(SYS_nanosleep, &pause, NULL);
  }
  return fault == kShort && size > 7 ? 7 : (ssize_t)size;
}

ssize_t write(int descriptor, const void* from, size_t size) {
  if (is_full(descriptor)) return -1;
  const ssize_t now = allowed(descriptor, size);
  return now < 0 ? -1 : syscall(SYS_write, descriptor, from, (size_t)now);
}
ssize_t writev(int descriptor, const struct iovec* parts, int n) {
  if (is_full(descriptor)) return -1;
  if (fault == kShort && n > 0) return write(descriptor, parts[0].iov_base, parts[0].iov_len);
  return allowed(descriptor, 0) < 0 ? -1 : syscall(SYS_writev, descriptor, parts, n);
}
ssize_t pwrite64(int descriptor, const void* from, size_t size, off64_t at) {
  if (is_full(descriptor)) return -1;
  const ssize_t now = allowed(descriptor, size);
  return now < 0 ? -1 : syscall(SYS_pwrite64, descriptor, from, (size_t)now, at);
}
ssize_t pwrite(int descriptor, const void* from, size_t size, off_t at) { return pwrite64(descriptor, from, size, at); }
ssize_t read(int descriptor, void* to, size_t size) {
  const ssize_t now = allowed(descriptor, size);
  return now < 0 ? -1 : syscall(SYS_read, descriptor, to, (size_t)now);
}
ssize_t pread64(int descriptor, void* to, size_t size, off64_t at) {
  const ssize_t now = allowed(descriptor, size);
  return now < 0 ? -1 : syscall(SYS_pread64, descriptor, to, (size_t)now, at);
}
ssize_t pread(int descriptor, void* to, size_t size, off_t at) { return pread64(descriptor, to, size, at); }

static void make_room(void);
// stdio writes by calls that can't be seen from here: a full disk shows itself when its buffer goes out.
int fflush(FILE* file) {
  if (file != NULL && fault == kDiskFull && is_file(fileno(file)) && fails(kDiskFull)) {
    errno = ENOSPC;
    return EOF;
  }
  return NEXT(fflush)(file);
}
int fclose(FILE* file) {
  const bool full = fault == kDiskFull && is_file(fileno(file)) && (fcntl(fileno(file), F_GETFL) & O_ACCMODE) != O_RDONLY && fails(kDiskFull);
  const int closed = NEXT(fclose)(file);
  make_room();
  if (!full) return closed;
  errno = ENOSPC;
  return EOF;
}

int ftruncate64(int descriptor, off64_t size) { return is_full(descriptor) ? -1 : (int)syscall(SYS_ftruncate, descriptor, size); }
int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }
int fallocate64(int descriptor, int mode, off64_t at, off64_t size) {
  return is_full(descriptor) ? -1 : (int)syscall(SYS_fallocate, descriptor, mode, at, size);
}
int fallocate(int descriptor, int mode, off_t at, off_t size) { return fallocate64(descriptor, mode, at, size); }
int posix_fallocate64(int descriptor, off64_t at, off64_t size) {
  return fallocate64(descriptor, 0, at, size) == 0 ? 0 : errno;
}
int posix_fallocate(int descriptor, off_t at, off_t size) { return posix_fallocate64(descriptor, at, size); }
int mkdirat(int folder, const char* path, mode_t mode) {
  if (fails(kDiskFull)) return errno = ENOSPC, -1;
  return (int)syscall(SYS_mkdirat, folder, path, mode);
}
int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

// A table of descriptors that is full at the N-th call; what is closed from then on makes room.
static atomic_long room;
static bool is_out_of_descriptors(void) {
  if (!fails(kNoDescriptors)) return false;
  if (atomic_fetch_sub(&room, 1) > 0) return false;
  atomic_fetch_add(&room, 1);
  errno = EMFILE;
  return true;
}
static void make_room(void) {
  if (fault == kNoDescriptors && fault_at > 0 && atomic_load(count) >= fault_at) atomic_fetch_add(&room, 1);
}
int close(int descriptor) {
  const int closed = (int)syscall(SYS_close, descriptor);
  if (closed == 0) make_room();
  return closed;
}
int closedir(DIR* folder) {
  make_room();
  return NEXT(closedir)(folder);
}
static bool takes_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }
int openat64(int folder, const char* path, int flags, ...) {
  mode_t mode = 0;
  if (takes_mode(flags)) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  if (is_out_of_descriptors()) return -1;
  const bool makes = (flags & O_TMPFILE) == O_TMPFILE || ((flags & O_CREAT) != 0 && syscall(SYS_faccessat, folder, path, F_OK) != 0);
  if (makes && fails(kDiskFull)) return errno = ENOSPC, -1;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}
#define OPEN_AS(name, folder, ...)                          \
  int name(__VA_ARGS__, int flags, ...) {                   \
    va_list more;                                           \
    va_start(more, flags);                                  \
    const mode_t mode = takes_mode(flags) ? va_arg(more, mode_t) : 0; \
    va_end(more);                                           \
    return openat64(folder, path, flags, mode);             \
  }
OPEN_AS(open, AT_FDCWD, const char* path)
OPEN_AS(open64, AT_FDCWD, const char* path)
OPEN_AS(openat, folder, int folder, const char* path)
int creat(const char* path, mode_t mode) { return openat64(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

FILE* fopen64(const char* path, const char* how) {
  if (is_out_of_descriptors()) return NULL;
  if (how[0] != 'r' && fails(kDiskFull)) return errno = ENOSPC, NULL;
  return NEXT(fopen64)(path, how);
}
FILE* fopen(const char* path, const char* how) { return fopen64(path, how); }
DIR* opendir(const char* path) { return is_out_of_descriptors() ? NULL : NEXT(opendir)(path); }
int pipe2(int ends[2], int flags) { return is_out_of_descriptors() ? -1 : (int)syscall(SYS_pipe2, ends, flags); }
int pipe(int ends[2]) { return pipe2(ends, 0); }
int socket(int domain, int type, int protocol) {
  return is_out_of_descriptors() ? -1 : (int)syscall(SYS_socket, domain, type, protocol);
}
int dup(int descriptor) { return is_out_of_descriptors() ? -1 : (int)syscall(SYS_dup, descriptor); }

void* malloc(size_t size) {
  static void* (*next)(size_t);
  if (next == NULL) next = next_of("malloc");
  if (fault == kNoMemory && fails(kNoMemory)) return errno = ENOMEM, NULL;
  return next(size);
}
void* realloc(void* old, size_t size) {
  static void* (*next)(void*, size_t);
  if (next == NULL) next = next_of("realloc");
  if (fault == kNoMemory && fails(kNoMemory)) return errno = ENOMEM, NULL;
  return next(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  if (fault == kNoMemory && fails(kNoMemory)) return errno = ENOMEM, NULL;
  return NEXT(aligned_alloc)(alignment, size);
}
void* mmap64(void* at, size_t size, int protection, int flags, int file, off64_t offset) {
  if (fault == kNoMemory && fails(kNoMemory)) return errno = ENOMEM, MAP_FAILED;
  return (void*)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  return mmap64(at, size, protection, flags, file, offset);
}

static atomic_long looks;
int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*next)(clockid_t, struct timespec*);
  if (next == NULL) next = next_of("clock_gettime");
  const int found = next(clock, now);
  if (fault == kClock && clock == CLOCK_REALTIME && found == 0) now->tv_sec += atomic_fetch_add(&looks, 1) / 10 % 2 == 0 ? -3600 : 3600;
  return found;
}
int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
  return 0;
}
time_t time(time_t* kept) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (kept != NULL) *kept = precise.tv_sec;
  return precise.tv_sec;
}

// What is durable: of a file its bytes; of a folder its names and their inodes.
static void keep(int descriptor) {
  if (synced == NULL) return;
  char link[64], path[PATH_MAX], kept[PATH_MAX], fresh[PATH_MAX + 32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  if (synced_below != NULL && strncmp(path, synced_below, strlen(synced_below)) != 0) return;
  struct stat facts;
  if (syscall(SYS_fstat, descriptor, &facts) != 0) return;
  snprintf(kept, sizeof kept, "%s/%s%lu", synced, S_ISDIR(facts.st_mode) ? "folder-" : "", (unsigned long)facts.st_ino);
  snprintf(fresh, sizeof fresh, "%s.%ld.new", kept, (long)syscall(SYS_gettid));
  const int to = (int)syscall(SYS_openat, AT_FDCWD, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (to < 0) return;
  if (S_ISDIR(facts.st_mode)) {
    DIR* folder = NEXT(opendir)(path);
    for (struct dirent* entry; folder != NULL && (entry = readdir(folder)) != NULL;)
      if (entry->d_name[0] != '.' || strncmp(entry->d_name, ".perfcast", 9) == 0)
        dprintf(to, "%lu %s\n", (unsigned long)entry->d_ino, entry->d_name);
    if (folder != NULL) closedir(folder);
  } else {
    char block[65536];
    // The descriptor itself may be write-only: its file is read by its name.
    const int from = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; from >= 0 && (n = syscall(SYS_read, from, block, sizeof block)) > 0;) syscall(SYS_write, to, block, (size_t)n);
    if (from >= 0) syscall(SYS_close, from);
  }
  syscall(SYS_close, to);
  syscall(SYS_renameat, AT_FDCWD, fresh, AT_FDCWD, kept);
}
int fsync(int descriptor) {
  if (is_full(descriptor)) return -1;
  const int done = (int)syscall(SYS_fsync, descriptor);
  if (done == 0) keep(descriptor);
  return done;
}
int fdatasync(int descriptor) { return fsync(descriptor); }
