// Planted: questions go to another process through a pipe, and each waits for its answer; mended, 256 at a time.
#include <sys/wait.h>

#include <vector>

#include "planted.h"

namespace {

constexpr uint64_t kQuestions = 120'000;
constexpr uint64_t kAtATime = planted::kMended ? 256 : 1;

uint64_t answer(uint64_t question) {
  for (int round = 0; round < 60; ++round) question = planted::mix(question);
  return question;
}

bool read_all(int file, void* data, size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = read(file, at, size);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

int main() {
  int there[2], back[2];
  planted::require(pipe(there) == 0 && pipe(back) == 0, "pipe");
  std::vector<uint64_t> some(kAtATime);
  const pid_t child = fork();
  planted::require(child >= 0, "fork");
  if (child == 0) {
    close(there[1]);
    while (read_all(there[0], some.data(), 8 * kAtATime)) {
      for (uint64_t& question : some) question = answer(question);
      planted::write_all(back[1], some.data(), 8 * kAtATime);
    }
    _exit(0);
  }
  uint64_t sum = 0;
  for (uint64_t first = 0; first < kQuestions; first += kAtATime) {
    for (uint64_t i = 0; i < kAtATime; ++i) some[i] = first + i;
    planted::write_all(there[1], some.data(), 8 * kAtATime);
    planted::require(read_all(back[0], some.data(), 8 * kAtATime), "read");
    if (first + kAtATime > kQuestions) some.resize(kQuestions - first);
    for (const uint64_t number : some) sum += number;
  }
  close(there[1]);
  waitpid(child, nullptr, 0);
  return planted::print_checksum(sum);
}
