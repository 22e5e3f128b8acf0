/* What works natively and not in an emulator, chosen by the first argument: status 0 where it works, 2 where not. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char** environ;

static int fails(const char* what) {
  if (write(2, what, strlen(what)) < 0) return 3;
  return 2;
}

static int ring(void) {
  uint32_t parameters[32] = {0};
  return syscall(SYS_io_uring_setup, 8, parameters) < 0 ? fails("no io_uring\n") : 0;
}

/* So many TB of address space, for a while. */
static int reserve(const char* size, int protection) {
  const size_t bytes = (size_t)(*size - '0') << 40;
  void* memory = mmap(0, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  usleep(60000);
  return memory == MAP_FAILED ? fails("no address space\n") : 0;
}

/* Works in a copy of itself that is in memory alone. */
static int from_memory(unsigned flags) {
  static char block[65536];
  const int self = open("/proc/self/exe", O_RDONLY);
  const int copy = (int)syscall(SYS_memfd_create, "copy", flags);
  for (ssize_t n; (n = read(self, block, sizeof block)) > 0;)
    if (write(copy, block, (size_t)n) != n) return fails("no memory\n");
  char* arguments[] = {"copy", "work", NULL};
  fexecve(copy, arguments, environ);
  return fails("no program from memory\n");
}

static int work(void) {
  volatile uint64_t sum = 0;
  for (uint64_t i = 0; i < 100000000; i++) sum += i;
  return 0;
}

/* Writes one thing where there is io_uring, and another where not. */
static int say(const char* size) {
  uint32_t parameters[32] = {0};
  const int fails_here = syscall(SYS_io_uring_setup, 8, parameters) < 0;
  const char* text = *size == 's' ? (fails_here ? "slow way\n" : "fast way\n")
                                  : (fails_here ? "this machine can't do it: nothing was done\n" : "done\n");
  return write(1, text, strlen(text)) < 0 ? 3 : 0;
}

int main(int count, char** arguments) {
  if (count < 2) return 1;
  if (strcmp(arguments[1], "io_uring") == 0) return ring();
  if (strcmp(arguments[1], "work") == 0) return work();
  if (strcmp(arguments[1], "memfd") == 0) return from_memory(0);
  if (strcmp(arguments[1], "memfd-cloexec") == 0) return from_memory(1);
  if (count < 3) return 1;
  if (strcmp(arguments[1], "reserve") == 0) return reserve(arguments[2], PROT_NONE);
  if (strcmp(arguments[1], "reserve-writable") == 0) return reserve(arguments[2], PROT_READ | PROT_WRITE);
  if (strcmp(arguments[1], "say") == 0) return say(arguments[2]);
  return 1;
}
