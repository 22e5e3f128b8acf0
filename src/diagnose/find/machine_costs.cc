#include "diagnose/find/machine_costs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>

#include "collect/process/spawn.h"

namespace perfcast {
namespace {

constexpr int kRounds = 3, kCalls = 5000, kPages = 2000, kStarts = 5;

// The least of some rounds: what the machine does when nobody disturbs it.
template <typename Work>
double least_s(int times, const Work& work) {
  using Clock = std::chrono::steady_clock;
  double least = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round) {
    const auto began = Clock::now();
    if (!work()) return 0;
    least = std::min(least, std::chrono::duration<double>(Clock::now() - began).count() / times);
  }
  return least;
}

}  // namespace

MachineCosts measure_machine_costs() {
  MachineCosts costs;
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
  costs.process_start_s = least_s(kStarts, [] {
    for (int i = 0; i < kStarts; ++i) {
      SpawnRequest request;
      request.executable = "/bin/true";
      request.arguments = {"true"};
      const auto child = spawn(request);
      if (!child) return false;
      while (waitpid(*child, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    return true;
  });
  return costs;
}

}  // namespace perfcast
