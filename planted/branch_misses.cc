// Planted: rows are chosen by a branch that random values decide, and no CPU can foresee.
#include <vector>

#include "planted.h"

namespace {

constexpr size_t kRows = 1 << 17;
constexpr int kQueries = 1600;

// The numbers of the rows below the limit, in order; `chosen` has room for all.
size_t choose(const std::vector<uint16_t>& values, uint16_t limit, std::vector<uint32_t>& chosen) {
  size_t count = 0;
  for (uint32_t row = 0; row < kRows; ++row) {
    if constexpr (planted::kMended) {
      chosen[count] = row;
      count += values[row] < limit ? 1 : 0;
    } else {
      if (values[row] < limit) chosen[count++] = row;
    }
  }
  return count;
}

}  // namespace

int main() {
  planted::Random random(1);
  std::vector<uint16_t> values(kRows);
  for (uint16_t& value : values) value = static_cast<uint16_t>(random.next());
  std::vector<uint32_t> chosen(kRows + 1);
  uint64_t checksum = 0;
  for (int query = 0; query < kQueries; ++query) {
    const size_t count = choose(values, static_cast<uint16_t>(30000 + query), chosen);
    for (size_t i = 0; i < count; ++i) checksum += planted::mix(chosen[i]);
  }
  return planted::print_checksum(checksum);
}
