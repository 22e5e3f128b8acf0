// Planted: each word's number is looked for from the first entry on, in a table that is kept as a list.
#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "diagnose/planted/planted.h"

namespace {

constexpr size_t kEntries = 120;
constexpr int kLookUps = 8'000'000;

class Symbols {
 public:
  void add(const std::string& name, uint64_t number) {
    if constexpr (planted::kMended) {
      map_.emplace(name, number);
    } else {
      list_.emplace_back(name, number);
    }
  }
  uint64_t number_of(const std::string& name) const {
    if constexpr (planted::kMended) return map_.find(name)->second;
    return std::find_if(list_.begin(), list_.end(), [&](const auto& entry) { return entry.first == name; })->second;
  }

 private:
  std::vector<std::pair<std::string, uint64_t>> list_;
  std::unordered_map<std::string, uint64_t> map_;
};

}  // namespace

int main() {
  planted::Random random(1);
  Symbols symbols;
  std::vector<std::string> names;
  for (size_t i = 0; i < kEntries; ++i) {
    names.push_back("symbol_" + std::to_string(100 + i));
    symbols.add(names.back(), random.next());
  }
  uint64_t checksum = 0;
  for (int i = 0; i < kLookUps; ++i) checksum += symbols.number_of(names[random.below(kEntries)]);
  return planted::print_checksum(checksum);
}
