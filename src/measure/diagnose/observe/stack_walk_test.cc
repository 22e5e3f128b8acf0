#include "measure/diagnose/observe/stack_walk.h"

#include <execinfo.h>
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace perfcast::measure {
namespace {

CodeMappings own_code() {
  CodeMappings mappings;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long start = 0, end = 0, offset = 0;  // NOLINT(google-runtime-int): sscanf's
    std::array<char, 5> rights{};
    int path = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %*s %n", &start, &end, rights.data(), &offset, &path) != 4)
      continue;
    if (rights[2] == 'x') mappings.push_back({start, end, offset, line.substr(static_cast<size_t>(path))});
  }
  return mappings;
}

#if defined(__x86_64__)

struct Caught {
  std::vector<uint64_t> words;
  uint64_t address = 0, stack_pointer = 0, frame_pointer = 0;
  std::vector<uint64_t> callers;  // as the compiler's own library unwinds them
};

constexpr size_t kBytes = 6144;

// Leaves return addresses all over the stack below, as earlier calls do.
__attribute__((noinline)) void leave_stale_words() {
  std::array<volatile uint64_t, kBytes / 8> stale;
  for (volatile uint64_t& word : stale) word = reinterpret_cast<uint64_t>(__builtin_return_address(0));
}

__attribute__((noinline)) void catch_stack(Caught& caught) {
  asm volatile(
      "lea 0(%%rip), %0\n\t"
      "mov %%rsp, %1\n\t"
      "mov %%rbp, %2"
      : "=r"(caught.address), "=r"(caught.stack_pointer), "=r"(caught.frame_pointer));
  caught.words.resize(kBytes / 8);
  const void* const top = reinterpret_cast<const void*>(caught.stack_pointer);  // NOLINT(performance-no-int-to-ptr)
  std::memcpy(caught.words.data(), top, kBytes);
  std::array<void*, 32> callers{};
  const int count = backtrace(callers.data(), static_cast<int>(callers.size()));
  for (int i = 1; i < count; ++i)
    caught.callers.push_back(reinterpret_cast<uint64_t>(callers.at(static_cast<size_t>(i))));
}

__attribute__((noinline)) void with_room(Caught& caught, size_t depth) {
  std::array<volatile uint64_t, 40> room;  // of which nothing is written
  if (depth > 0) {
    with_room(caught, depth - 1);
  } else {
    catch_stack(caught);
  }
  asm volatile("" : : "r"(&room) : "memory");
}

Caught caught_here() {
  Caught caught;
  caught.words.reserve(kBytes / 8);
  caught.callers.reserve(64);
  leave_stale_words();
  with_room(caught, 5);
  return caught;
}

TEST(StackWalk, FollowsFramesAsTheCompilersLibraryDoes) {
  const Caught caught = caught_here();
  CodeMap code;
  const auto returns =
      return_addresses(own_code(), {caught.address, caught.stack_pointer, caught.frame_pointer, caught.words}, code, 7);
  ASSERT_GE(caught.callers.size(), 8);
  EXPECT_EQ(returns, std::vector<uint64_t>(caught.callers.begin(), caught.callers.begin() + 7));
}

TEST(StackWalk, WithoutACodeAddressWordsCountThatFollowCalls) {
  const Caught caught = caught_here();
  CodeMap code;
  const auto returns = return_addresses(own_code(), {0, caught.stack_pointer, {}, caught.words}, code, 16);
  EXPECT_EQ(returns.size(), 16);  // stale ones, too
}

TEST(StackWalk, AStackThatIsCutEndsTheWalk) {
  const Caught caught = caught_here();
  CodeMap code;
  const std::span<const uint64_t> few(caught.words.data(), 4);
  EXPECT_LE(
      return_addresses(own_code(), {caught.address, caught.stack_pointer, caught.frame_pointer, few}, code, 7).size(),
      4);
  EXPECT_TRUE(return_addresses({}, {caught.address, caught.stack_pointer, caught.frame_pointer, few}, code, 7).empty());
}

#endif

}  // namespace
}  // namespace perfcast::measure
