#include "measure/diagnose/find/machine_costs.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <thread>

#include "base/process/spawn.h"

namespace perfcast::measure {
namespace {

constexpr int kRounds = 3, kCalls = 5000, kPages = 2000, kStarts = 5, kWakeUps = 200;
constexpr size_t kLineBytes = 64, kAccessedLines = 128;
constexpr int kPasses = 2000, kHandOvers = 2000;
constexpr std::chrono::milliseconds kLongestHandOvers{20};  // the other thread may get no CPU

double now_s(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The least of some rounds: what the machine does when nobody disturbs it. Of work that this thread does alone, by its
// CPU time: others take the CPU in the middle of a round, too.
template <typename Work>
double least_s(int times, const Work& work, clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  double least = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round) {
    const double began_s = now_s(clock);
    if (!work()) return 0;
    least = std::min(least, (now_s(clock) - began_s) / times);
  }
  return least;
}

struct [[gnu::packed]] Anywhere {
  uint64_t value;
};

// Seconds of one access to each of some lines, so many bytes from their beginnings.
template <bool kStores>
double access_s(size_t offset) {
  alignas(kLineBytes) static std::array<char, (kAccessedLines + 1) * kLineBytes> memory;
  return least_s(kPasses * static_cast<int>(kAccessedLines), [&] {
    for (int pass = 0; pass < kPasses; ++pass) {
      for (size_t line = 0; line < kAccessedLines; line += 4) {
        // Four at a time, so that not the loop is measured.
        auto* const at = memory.data() + line * kLineBytes + offset;
        volatile auto* const a = reinterpret_cast<Anywhere*>(at);
        volatile auto* const b = reinterpret_cast<Anywhere*>(at + kLineBytes);
        volatile auto* const c = reinterpret_cast<Anywhere*>(at + 2 * kLineBytes);
        volatile auto* const d = reinterpret_cast<Anywhere*>(at + 3 * kLineBytes);
        if constexpr (kStores) {
          a->value = 1;
          b->value = 1;
          c->value = 1;
          d->value = 1;
        } else {
          static_cast<void>(a->value), static_cast<void>(b->value);
          static_cast<void>(c->value), static_cast<void>(d->value);
        }
      }
    }
    return true;
  });
}

// Seconds of a load whose address the one before gave, of lines in no order that is foreseen; 0: no memory for it.
double chained_load_s(size_t bytes) {
  constexpr int kLoads = 30'000;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  const size_t lines = bytes / kLineBytes;  // a power of two
  auto* const at = static_cast<char*>(memory);
  // A generator with the full period 2^n (multiplier 1 more than a multiple of 4, odd constant) comes to each line
  // once.
  const auto next = [&](size_t line) { return (line * 1'664'525 + 1'013'904'223) & (lines - 1); };
  size_t line = 0;
  for (size_t i = 0; i < lines; ++i) {
    const size_t following = next(line);
    std::memcpy(at + line * kLineBytes, &following, sizeof(following));
    line = following;
  }
  size_t place = 0;
  const double each_s = least_s(kLoads, [&] {
    for (int i = 0; i < kLoads; ++i) std::memcpy(&place, at + place * kLineBytes, sizeof(place));
    return place < lines;
  });
  munmap(memory, bytes);
  return each_s;
}

// A number that two threads write in turns.
class HandOver {
 public:
  // Seconds from one to the other; 0 where the other one got no CPU in time.
  double measure();

 private:
  using Clock = std::chrono::steady_clock;
  void answer();
  bool is_answered(int mine, Clock::time_point began) const;

  alignas(2 * kLineBytes) std::atomic<int> turn_ = 0;
  alignas(2 * kLineBytes) std::atomic<bool> ended_ = false;
};

void HandOver::answer() {
  for (int expected = 1; !ended_.load(std::memory_order_relaxed);) {
    if (turn_.load(std::memory_order_acquire) != expected) continue;
    turn_.store(expected + 1, std::memory_order_release);
    expected += 2;
  }
}

bool HandOver::is_answered(int mine, Clock::time_point began) const {
  while (turn_.load(std::memory_order_acquire) == mine) {
    // The clock is looked at seldom: it takes as long as what is measured.
    for (int look = 0; look < 1000; ++look) {
      if (turn_.load(std::memory_order_acquire) != mine) return true;
    }
    if (Clock::now() - began > kLongestHandOvers) return false;
  }
  return true;
}

double HandOver::measure() {
  std::thread other([this] { answer(); });
  double least = 0;
  int mine = -1;
  for (int round = 0; round < kRounds; ++round) {
    const auto began = Clock::now();
    bool answered = true;
    for (int i = 0; answered && i < kHandOvers; ++i) {
      mine += 2;
      turn_.store(mine, std::memory_order_release);
      answered = is_answered(mine, began);
    }
    if (!answered) break;
    const double each_s = std::chrono::duration<double>(Clock::now() - began).count() / (2 * kHandOvers);
    least = round == 0 ? each_s : std::min(least, each_s);
  }
  ended_ = true;
  other.join();
  return least;
}

// Fork, exec and end, by the CPU time of both sides: beside other programs the wall time is theirs, too.
double process_start_s() {
  const auto cpu_s = [] {
    rusage children{};
    getrusage(RUSAGE_CHILDREN, &children);
    double s = now_s(CLOCK_THREAD_CPUTIME_ID);
    for (const timeval& of : {children.ru_utime, children.ru_stime})
      s += static_cast<double>(of.tv_sec) + 1e-6 * static_cast<double>(of.tv_usec);
    return s;
  };
  double least = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round) {
    const double began_s = cpu_s();
    for (int i = 0; i < kStarts; ++i) {
      SpawnRequest request;
      request.executable = "/bin/true";
      request.arguments = {"true"};
      const auto child = spawn(request);
      if (!child) return 0;
      while (waitpid(*child, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    least = std::min(least, (cpu_s() - began_s) / kStarts);
  }
  return least;
}

// One byte through a pipe, whatever interrupts it.
bool gives(int to) {
  const char byte = 0;
  ssize_t count = 0;
  do {
    count = write(to, &byte, 1);
  } while (count < 0 && errno == EINTR);
  return count == 1;
}
bool takes(int from) {
  char byte = 0;
  ssize_t count = 0;
  do {
    count = read(from, &byte, 1);
  } while (count < 0 && errno == EINTR);
  return count == 1;
}

// From a thread's write to another's return from a read that waits for it, over two pipes.
double wake_up_s() {
  int there[2], back[2];
  if (pipe2(there, O_CLOEXEC) != 0) return 0;
  if (pipe2(back, O_CLOEXEC) != 0) {
    close(there[0]);
    close(there[1]);
    return 0;
  }
  std::thread other([&] {
    while (takes(there[0]) && gives(back[1])) continue;
  });
  const double each_s = least_s(
      2 * kWakeUps,
      [&] {
        for (int i = 0; i < kWakeUps; ++i) {
          if (!gives(there[1]) || !takes(back[0])) return false;
        }
        return true;
      },
      CLOCK_MONOTONIC);
  close(there[1]);
  other.join();
  for (const int end : {there[0], back[0], back[1]}) close(end);
  return each_s;
}

}  // namespace

MachineCosts measure_machine_costs() {
  MachineCosts costs;
  costs.load_s = access_s<false>(0);
  costs.store_s = access_s<true>(0);
  costs.crossing_load_s = std::max(0.0, access_s<false>(kLineBytes - 4) - costs.load_s);
  costs.crossing_store_s = std::max(0.0, access_s<true>(kLineBytes - 4) - costs.store_s);
  costs.load_of_8_mib_s = chained_load_s(size_t{8} << 20);
  costs.load_of_64_mib_s = chained_load_s(size_t{64} << 20);
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) > 1)
    costs.line_transfer_s = HandOver().measure();
  const Descriptor zero(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  costs.system_call_s = least_s(kCalls, [&] {
    char byte = 0;
    for (int i = 0; i < kCalls; ++i) {
      if (read(zero.get(), &byte, 1) != 1) return false;
    }
    return true;
  });
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  costs.page_fault_s = least_s(kPages, [&] {
    void* const memory = mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    madvise(memory, kPages * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < kPages; ++i) *(static_cast<volatile char*>(memory) + i * page) = 1;
    munmap(memory, kPages * page);
    return true;
  });
  costs.thread_start_s = least_s(
      kStarts,
      [] {
        for (int i = 0; i < kStarts; ++i) std::thread([] {}).join();
        return true;
      },
      CLOCK_MONOTONIC);
  costs.wake_up_s = wake_up_s();
  costs.process_start_s = process_start_s();
  return costs;
}

}  // namespace perfcast::measure
