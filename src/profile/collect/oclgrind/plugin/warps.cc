#include "profile/collect/oclgrind/plugin/warps.h"

#include <algorithm>
#include <array>

namespace perfcast::kernels {
namespace {

constexpr unsigned kSectorBits = 5, kWordBits = 2;
constexpr size_t kBanks = 32;

uint64_t passes_of(const std::vector<uint64_t>& words) {
  std::array<uint64_t, kBanks> by_bank{};
  for (const uint64_t word : words) ++by_bank[word % kBanks];
  return *std::max_element(by_bank.begin(), by_bank.end());
}

}  // namespace

void Warps::begin_item(size_t index) {
  if (warp_ != index / kLanes || index % kLanes <= lane_) flush();
  warp_ = index / kLanes;
  lane_ = index % kLanes;
  for (const uint32_t instruction : used_) instructions_[instruction].rounds = 0;
  used_.clear();
}

void Warps::end_item(uint64_t instructions) {
  sum_ += instructions;
  most_ = std::max(most_, instructions);
}

void Warps::global(uint32_t instruction, uint64_t address, uint64_t bytes) {
  add(instruction, address, bytes, kSectorBits, false);
}

void Warps::local(uint32_t instruction, uint64_t address, uint64_t bytes) {
  add(instruction, address, bytes, kWordBits, true);
}

void Warps::add(uint32_t instruction, uint64_t address, uint64_t bytes, unsigned place_bits, bool is_local) {
  if (instruction >= instructions_.size()) instructions_.resize(instruction + 1);
  Instruction& one = instructions_[instruction];
  if (one.rounds >= kMostRounds) return;
  if (one.rounds == 0) used_.push_back(instruction);
  if (one.rounds >= one.joined.size()) one.joined.emplace_back();
  Joined& joined = one.joined[one.rounds++];
  joined.bytes += bytes;
  joined.is_local = is_local;
  const uint64_t last = (address + (bytes > 0 ? bytes - 1 : 0)) >> place_bits;
  for (uint64_t place = address >> place_bits; place <= last; ++place) {
    // Neighbours mostly touch what the one before them did.
    if (std::find(joined.places.rbegin(), joined.places.rend(), place) == joined.places.rend())
      joined.places.push_back(place);
  }
}

void Warps::flush() {
  for (Instruction& one : instructions_) {
    for (Joined& joined : one.joined) {
      if (joined.places.empty()) continue;
      if (joined.is_local) {
        ++sums_.local_accesses;
        sums_.local_passes += passes_of(joined.places);
      } else {
        ++sums_.accesses;
        sums_.transactions += joined.places.size();
        sums_.bytes += joined.bytes;
      }
      joined.bytes = 0;
      joined.places.clear();
    }
    one.rounds = 0;
  }
  used_.clear();
  sums_.instructions += sum_;
  sums_.instructions_if_all += kLanes * most_;
  sum_ = most_ = 0;
  warp_ = SIZE_MAX;
}

void Warps::clear() {
  instructions_.clear();
  used_.clear();
  warp_ = SIZE_MAX;
  sum_ = most_ = 0;
  sums_ = {};
}

}  // namespace perfcast::kernels
