// Planted: each request maps its scratch memory anew and gives it back, so that every page of it faults in each
// request.
#include <sys/mman.h>

#include <memory>

#include "planted.h"

namespace {

constexpr size_t kScratchBytes = 1 << 20;
constexpr int kRequests = 4500;

class Scratch {
 public:
  Scratch() {
    void* memory = mmap(nullptr, kScratchBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    planted::require(memory != MAP_FAILED, "mmap");
    words_ = static_cast<uint64_t*>(memory);
  }
  ~Scratch() { munmap(words_, kScratchBytes); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  uint64_t* words() { return words_; }

 private:
  uint64_t* words_;
};

// Fills the scratch memory, then adds it up.
uint64_t handle(uint64_t request, uint64_t* words) {
  constexpr size_t kWords = kScratchBytes / sizeof(uint64_t);
  for (size_t i = 0; i < kWords; ++i) words[i] = (request + i) * 0x9e3779b97f4a7c15;
  uint64_t sum = request;
  for (size_t i = 0; i < kWords; ++i) sum += words[i] ^ (words[i] >> 7);
  return sum;
}

}  // namespace

int main() {
  Scratch kept;
  uint64_t checksum = 0;
  for (int request = 0; request < kRequests; ++request) {
    if constexpr (planted::kMended) {
      checksum = handle(checksum, kept.words());
    } else {
      Scratch scratch;
      checksum = handle(checksum, scratch.words());
    }
  }
  return planted::print_checksum(checksum);
}
