/* A program that does what the collectors' tests need, chosen by its first argument. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static void work(long rounds) {
  uint64_t x = 88172645463325252u;
  for (long i = 0; i < rounds; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    if (x & 1) sink += x;
  }
  sink += x;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void* thread_main(void* rounds) {
  work(*(long*)rounds);
  usleep(100 * 1000);
  return NULL;
}

static void* end_at_once(void* unused) { return unused; }

static int threads(long count, long rounds) {
  pthread_t handles[64];
  if (count > 64) return 2;
  for (long i = 0; i < count; ++i) pthread_create(&handles[i], NULL, thread_main, &rounds);
  for (long i = 0; i < count; ++i) pthread_join(handles[i], NULL);
  return 0;
}

/* Threads that end while the process does. */
static void abandon(long count) {
  pthread_t handle;
  for (long i = 0; i < count; ++i) pthread_create(&handle, NULL, end_at_once, NULL);
  _exit(0);
}

static int forks(long count, long rounds) {
  for (long i = 0; i < count; ++i) {
    if (fork() == 0) {
      work(rounds);
      _exit(0);
    }
  }
  while (wait(NULL) > 0) {
  }
  return 0;
}

static int files(long count) {
  for (long i = 0; i < count; ++i) {
    if (open("/dev/null", O_RDONLY) < 0) return 1;
  }
  usleep(200 * 1000);
  return 0;
}

static int write_bytes(long bytes) {
  static char block[4096];
  const int null_device = open("/dev/null", O_WRONLY);
  for (long left = bytes; left > 0; left -= (long)sizeof(block)) {
    if (write(null_device, block, sizeof(block)) < 0) return 1;
  }
  return 0;
}

/* Prints how many bytes came and a hash of them. */
static int read_input(void) {
  static unsigned char block[65536];
  unsigned long total = 0, hash = 5381;
  for (ssize_t count; (count = read(0, block, sizeof(block))) > 0; total += (unsigned long)count) {
    for (ssize_t i = 0; i < count; ++i) hash = hash * 33 + block[i];
  }
  printf("%lu bytes %lx\n", total, hash);
  return 0;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  const long number = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
  const long rounds = argc > 3 ? strtol(argv[3], NULL, 10) : 1000;
  if (!strcmp(mode, "work")) return work(number), 0;
  if (!strcmp(mode, "until")) { /* milliseconds of wall clock, whatever work that allows */
    for (const double end = now() + 1e-3 * (double)number; now() < end;) work(1000);
    return 0;
  }
  if (!strcmp(mode, "sleep")) return usleep((useconds_t)number * 1000), 0;
  if (!strcmp(mode, "threads")) return threads(number, rounds);
  if (!strcmp(mode, "abandon")) abandon(number);
  if (!strcmp(mode, "forks")) return forks(number, rounds);
  if (!strcmp(mode, "files")) return files(number);
  if (!strcmp(mode, "write")) return write_bytes(number);
  if (!strcmp(mode, "input")) return read_input();
  if (!strcmp(mode, "exit")) return (int)number;
  if (!strcmp(mode, "kill")) return raise((int)number), 0;
  if (!strcmp(mode, "stubborn")) { /* ignores polite requests */
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    for (;;) pause();
  }
  if (!strcmp(mode, "daemon")) { /* leaves a process of its own session behind; prints its number */
    const pid_t left = fork();
    if (left == 0) {
      setsid();
      close(1);
      close(2);
      for (;;) pause();
    }
    printf("%d\n", (int)left);
    return 0;
  }
  if (!strcmp(mode, "exec")) { /* a child that executes this program (argv[0] must be its path) to work */
    if (fork() == 0) {
      execl(argv[0], argv[0], "work", argc > 2 ? argv[2] : "0", (char*)NULL);
      _exit(127);
    }
    wait(NULL);
    return 0;
  }
  if (!strcmp(mode, "hold")) { /* touches so many MiB and keeps them so many milliseconds, shared by so many forks */
    char* memory = malloc((size_t)number << 20);
    if (!memory) return 1;
    memset(memory, 1, (size_t)number << 20);
    for (long forks = argc > 4 ? strtol(argv[4], NULL, 10) : 0; forks > 0 && fork() != 0;) --forks;
    return usleep((useconds_t)rounds * 1000), 0;
  }
  if (!strcmp(mode, "say")) {
    fputs(argc > 2 ? argv[2] : "", stdout);
    fputs(argc > 3 ? argv[3] : "", stderr);
    return 0;
  }
  fprintf(stderr, "guinea: unknown mode '%s'\n", mode);
  return 2;
}
