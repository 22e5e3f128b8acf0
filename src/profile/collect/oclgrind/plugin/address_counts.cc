#include "profile/collect/oclgrind/plugin/address_counts.h"

#include <bit>
#include <cmath>
#include <map>

namespace perfcast::kernels {
namespace {

constexpr uint64_t kBeyondMemory = uint64_t{1} << 40;

double x_log2_x(double x) { return x > 1 ? x * std::log2(x) : 0; }

}  // namespace

bool AddressCounts::find(uint64_t number, Recent& recent) {
  std::unique_ptr<Page>& page = pages_[number];
  if (!page) {
    if (pages_.size() > most_pages_) {
      pages_.erase(number);
      complete_ = false;
      return false;
    }
    page = std::make_unique<Page>();
  }
  recent = {number, page.get()};
  return true;
}

void AddressCounts::clear() {
  pages_.clear();
  recent_ = {};
  complete_ = true;
}

// Groups of 2^10 addresses lie within a page, so pages can be taken in any order.
AddressFacts AddressCounts::facts() const {
  AddressFacts facts;
  std::map<uint32_t, uint64_t> addresses_by_count;
  std::array<double, kEntropyLevels> sums{};  // of x log2 x
  for (const auto& [number, page] : pages_) {
    std::vector<uint64_t> counts(page->begin(), page->end());
    for (const uint32_t count : *page) {
      if (count == 0) continue;
      ++facts.addresses;
      facts.accesses += count;
      ++addresses_by_count[count];
    }
    for (size_t level = 0; level < kEntropyLevels; ++level) {
      for (const uint64_t count : counts) sums[level] += x_log2_x(static_cast<double>(count));
      for (size_t i = 0; i + 1 < counts.size(); i += 2) counts[i / 2] = counts[i] + counts[i + 1];
      counts.resize(counts.size() / 2);
    }
  }
  if (facts.accesses == 0) return facts;
  const auto all = static_cast<double>(facts.accesses);
  for (size_t level = 0; level < kEntropyLevels; ++level)
    facts.entropy_bits[level] = std::max(0.0, std::log2(all) - sums[level] / all);
  uint64_t covered = 0;
  for (auto at = addresses_by_count.rbegin(); at != addresses_by_count.rend(); ++at) {
    const auto& [count, addresses] = *at;
    const uint64_t lacking = (9 * facts.accesses + 9) / 10 - covered;  // of 90%, rounded up
    const uint64_t needed = (lacking + count - 1) / count;
    facts.addresses_of_90_percent += std::min(needed, addresses);
    if (needed <= addresses) break;
    covered += count * addresses;
  }
  return facts;
}

void SectorSet::add(uint64_t buffer, uint64_t offset, uint64_t bytes) {
  // Before a buffer's beginning, or beyond any memory: Oclgrind tells of it before it finds that it is invalid.
  if (offset >= kBeyondMemory) return;
  if (recent_ == nullptr || recent_buffer_ != buffer) {
    recent_ = &buffers_[buffer];
    recent_buffer_ = buffer;
  }
  const uint64_t last = (offset + (bytes > 0 ? bytes - 1 : 0)) >> kSectorBits;
  if (recent_->size() <= last / 64) recent_->resize(last / 64 + 1);
  for (uint64_t sector = offset >> kSectorBits; sector <= last; ++sector)
    (*recent_)[sector / 64] |= uint64_t{1} << (sector % 64);
}

uint64_t SectorSet::sectors() const {
  uint64_t sum = 0;
  for (const auto& [buffer, bits] : buffers_) {
    for (const uint64_t word : bits) sum += static_cast<uint64_t>(std::popcount(word));
  }
  return sum;
}

}  // namespace perfcast::kernels
