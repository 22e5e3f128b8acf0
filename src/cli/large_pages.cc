#include "cli/large_pages.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace perfcast::cli {

void use_large_pages() {
  constexpr int kStepBytes = 48 << 20;   // address space, no memory until it is touched
  constexpr int kApartBytes = 64 << 20;  // larger blocks stay mappings of their own, given back when they are freed
  constexpr int kKeptBytes = 256 << 20;  // free memory at the heap's end that is kept for the next block
  constexpr uintptr_t kLargePageBytes = uintptr_t{2} << 20;
  if (mallopt(M_TOP_PAD, kStepBytes) == 0 || mallopt(M_MMAP_THRESHOLD, kApartBytes) == 0 ||
      mallopt(M_TRIM_THRESHOLD, kKeptBytes) == 0) {
    return;
  }
  // The first block after that makes the heap grow by the step.
  const std::unique_ptr<void, decltype(&std::free)> first(std::malloc(size_t{1} << 20), &std::free);
  const auto begin = reinterpret_cast<uintptr_t>(first.get());
  const auto end = reinterpret_cast<uintptr_t>(sbrk(0)) / kLargePageBytes * kLargePageBytes;
  const uintptr_t aligned = (begin + kLargePageBytes - 1) / kLargePageBytes * kLargePageBytes;
  // A refusal leaves the pages small, no more. NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (begin != 0 && end > aligned) madvise(reinterpret_cast<void*>(aligned), end - aligned, MADV_HUGEPAGE);
}

}  // namespace perfcast::cli
