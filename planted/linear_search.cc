// Planted: each word's number is looked for from the first entry on, in a table that is kept as a list.
#include <algorithm>
#include <utility>
#include <vector>

#include "planted.h"

namespace {

constexpr size_t kEntries = 120;
constexpr size_t kPlaces = 1024;  // of the table that is mended: a power of two, mostly empty
constexpr int kLookUps = 8'000'000;

// A name of at most 16 letters, as two numbers.
struct Key {
  uint64_t high = 0, low = 0;
  Key() = default;
  explicit Key(const std::string& name) {
    for (const char letter : name) {
      high = high << 8 | low >> 56;
      low = low << 8 | static_cast<uint8_t>(letter);
    }
  }
  bool operator==(const Key&) const = default;
  size_t place() const { return planted::mix(high ^ low) % kPlaces; }
};

class Symbols {
 public:
  void add(const std::string& name, uint64_t number) {
    if constexpr (planted::kMended) {
      size_t place = Key(name).place();
      while (!(places_[place].first == Key())) place = (place + 1) % kPlaces;
      places_[place] = {Key(name), number};
    } else {
      list_.emplace_back(name, number);
    }
  }
  uint64_t number_of(const std::string& name) const {
    if constexpr (planted::kMended) {
      const Key key(name);
      size_t place = key.place();
      while (!(places_[place].first == key)) place = (place + 1) % kPlaces;
      return places_[place].second;
    }
    return std::find_if(list_.begin(), list_.end(), [&](const auto& entry) { return entry.first == name; })->second;
  }

 private:
  std::vector<std::pair<std::string, uint64_t>> list_;
  std::vector<std::pair<Key, uint64_t>> places_ = std::vector<std::pair<Key, uint64_t>>(planted::kMended ? kPlaces : 0);
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
