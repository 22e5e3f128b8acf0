// Planted: a merge sort that starts a thread for each half, down to eight numbers; mended, down to a quarter of all.
#include <algorithm>
#include <thread>
#include <vector>

#include "planted.h"

namespace {

constexpr size_t kNumbers = size_t{1} << 16, kTimes = 6;
constexpr size_t kFewest = planted::kMended ? kNumbers / 4 : 8;

void sort(uint64_t* first, uint64_t* last) {
  const auto count = static_cast<size_t>(last - first);
  if (count <= kFewest) {
    std::sort(first, last);
    return;
  }
  uint64_t* const middle = first + count / 2;
  std::thread other(sort, first, middle);
  sort(middle, last);
  other.join();
  std::inplace_merge(first, middle, last);
}

}  // namespace

int main() {
  planted::Random random(5);
  uint64_t sum = 0;
  for (size_t time = 0; time < kTimes; ++time) {
    std::vector<uint64_t> numbers(kNumbers);
    for (uint64_t& number : numbers) number = random.next();
    sort(numbers.data(), numbers.data() + numbers.size());
    sum += numbers[kNumbers / 3] ^ numbers[kNumbers / 2];
  }
  return planted::print_checksum(sum);
}
