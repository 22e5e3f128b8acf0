#pragma once
// How often each address of a kernel's launch was used.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace perfcast::kernels {

inline constexpr size_t kEntropyLevels = 11;  // low bits that are left out: 0 to 10

struct AddressFacts {
  uint64_t accesses = 0, addresses = 0;
  uint64_t addresses_of_90_percent = 0;  // fewest that make up 90% of the accesses
  std::array<double, kEntropyLevels> entropy_bits{};
};

class AddressCounts {
 public:
  explicit AddressCounts(size_t most_bytes) : most_pages_(most_bytes / sizeof(Page)) {}

  void add(uint64_t address) {
    const uint64_t number = address >> kPageBits;
    Recent& recent = recent_[number % kRecent];
    if (recent.page == nullptr || recent.number != number) {
      if (!find(number, recent)) return;
    }
    ++(*recent.page)[address & (kPageAddresses - 1)];
  }
  bool complete() const { return complete_; }  // false: the memory for it ran out
  void clear();
  AddressFacts facts() const;

 private:
  static constexpr unsigned kPageBits = 12;
  static constexpr size_t kPageAddresses = size_t{1} << kPageBits, kRecent = 64;
  using Page = std::array<uint32_t, kPageAddresses>;
  struct Recent {
    uint64_t number = 0;
    Page* page = nullptr;
  };
  bool find(uint64_t number, Recent& recent);

  size_t most_pages_;
  bool complete_ = true;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::array<Recent, kRecent> recent_{};
};

// Which 32-byte sectors of each buffer were used.
class SectorSet {
 public:
  static constexpr unsigned kSectorBits = 5;

  void add(uint64_t buffer, uint64_t offset, uint64_t bytes);
  uint64_t sectors() const;
  void clear() { buffers_.clear(); }

 private:
  std::unordered_map<uint64_t, std::vector<uint64_t>> buffers_;  // bits by sector
  uint64_t recent_buffer_ = 0;
  std::vector<uint64_t>* recent_ = nullptr;
};

}  // namespace perfcast::kernels
