// Programs that fight a profiler: hostile NAME. Each does a little work and ends with status 0, if nothing disturbs it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t sink;
static void work(void) {
  for (uint64_t i = 0; i < 20000000; ++i) sink += i * i;
}

// 2^7 processes at once, then no more.
static void forks(void) {
  for (int i = 0; i < 7; ++i) fork();
  for (int i = 0; i < 100000; ++i) sink += (uint64_t)i;
  while (wait(NULL) > 0) continue;
}

static void* dies(void* unused) {
  sink += (uintptr_t)unused;
  return NULL;
}
static void* exits_with_all(void* unused) {
  (void)unused;
  work();
  exit(0);  // while the first thread waits
}
static void threads(void) {
  for (int i = 0; i < 500; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, dies, NULL) == 0) pthread_detach(thread);
  }
  pthread_t last;
  pthread_create(&last, NULL, exits_with_all, NULL);
  pthread_join(last, NULL);
}
static void* goes_on(void* unused) {
  work();
  _exit(0);
  return unused;
}
static void first_thread_ends(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, goes_on, NULL);
  pthread_exit(NULL);
}

static volatile sig_atomic_t signals;
static void count_signal(int unused) {
  (void)unused;
  ++signals;
}
static void storm(void) {
  struct sigaction action = {.sa_handler = count_signal};
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGUSR1, &action, NULL);
  const struct itimerval often = {{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < 20000; ++i) raise(SIGUSR1);
  work();
}

static void modifies_itself(void) {
  unsigned char* code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) exit(8);
  for (uint32_t i = 0; i < 20000; ++i) {
#if defined(__x86_64__)
    const unsigned char load[] = {0xb8, 0, 0, 0, 0, 0xc3};  // mov eax, i; ret
    memcpy(code, load, sizeof load);
    memcpy(code + 1, &i, 4);
#else
    const uint32_t load[] = {0x52800000u | (i & 0xffffu) << 5, 0xd65f03c0u};  // mov w0, i; ret
    memcpy(code, load, sizeof load);
    __builtin___clear_cache((char*)code, (char*)code + sizeof load);
#endif
    if (((uint32_t(*)(void))code)() != (i & 0xffffu)) exit(9);
  }
}

static void traces_itself(void) {
  const bool traced = ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
  work();
  sink += traced;
}

static void maps_much(void) {
  for (int i = 0; i < 20; ++i) {
    char* memory = mmap(NULL, (size_t)1 << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) memory[(size_t)i << 30] = 1;
  }
  for (int i = 0; i < 20000; ++i) mmap(NULL, 4096, i % 2 == 0 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  work();
}

static __attribute__((noinline)) uint64_t deep(uint64_t left) {
  volatile char frame[64];
  frame[left % 64] = 1;
  return left == 0 ? 0 : deep(left - 1) + (uint64_t)frame[left % 64];
}
static void recursion(void) {
  for (int i = 0; i < 20; ++i) sink += deep(40000);
}
static __attribute__((noinline)) uint64_t endless(uint64_t depth) { return endless(depth + 1) + sink; }

static void closes_all(void) {
  for (int i = 0; i < 1024; ++i) close(i);
  work();
}

static void sets_user(void) {
  if (setgid(65534) != 0 || setuid(65534) != 0) exit(8);
  work();
}

static void changes_name_and_folder(void) {
  if (chdir("/") != 0 || clearenv() != 0) exit(8);
  work();
}

static void writes_much(void) {
  for (int i = 0; i < 200000; ++i) puts("{\"schema\": \"perfcast.profile/1\", \"a line that looks like a result\": 1}");
}

static void leaves_a_child(void) {
  if (fork() == 0) {
    setsid();
    for (int i = 0; i < 3; ++i) close(i);
    sleep(2);
    _exit(0);
  }
  work();
}

static void kills_its_group(void) {
  work();
  setpgid(0, 0);
  kill(0, SIGTERM);
}

int main(int count, char** words) {
  static const struct {
    const char* name;
    void (*run)(void);
  } all[] = {{"forks", forks}, {"threads", threads}, {"first-thread-ends", first_thread_ends}, {"signals", storm},
             {"self-modifying", modifies_itself}, {"self-ptrace", traces_itself}, {"mappings", maps_much}, {"recursion", recursion},
             {"closed-streams", closes_all}, {"setuid", sets_user}, {"cleared-environment", changes_name_and_folder},
             {"output", writes_much}, {"left-child", leaves_a_child}, {"kills-group", kills_its_group}};
  if (count > 1 && strcmp(words[1], "stack-overflow") == 0) return (int)endless(0);
  for (size_t i = 0; count > 1 && i < sizeof all / sizeof all[0]; ++i)
    if (strcmp(words[1], all[i].name) == 0) {
      all[i].run();
      return 0;
    }
  return 1;
}
