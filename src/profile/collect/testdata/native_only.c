/* What works natively and not in an emulator, chosen by the first argument: status 0 where it works, 2 where not. */
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

static int reserve(void) {
  void* memory = mmap(0, (size_t)1 << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? fails("no address space\n") : 0;
}

int main(int count, char** arguments) {
  if (count < 2) return 1;
  if (strcmp(arguments[1], "io_uring") == 0) return ring();
  if (strcmp(arguments[1], "reserve") == 0) return reserve();
  return 1;
}
