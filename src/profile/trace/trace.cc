#include "profile/trace/trace.h"

#include <algorithm>

#include "profile/trace/leb128.h"

namespace perfcast {
namespace {

enum Tag : uint8_t { kBlock, kBlockAfterMiss, kAgain, kAccess };
constexpr unsigned kTagBits = 2;
constexpr uint8_t kHeldUnknown = 15, kHeldNowhere = 12, kFirstLarge = 3;

}  // namespace

uint64_t ProcessTrace::instructions_count() const {
  uint64_t sum = 0;
  for (const TracePiece& piece : pieces) sum += piece.instructions_count;
  return sum;
}

std::optional<uint64_t> trace_cache_bytes(uint8_t found) {
  constexpr std::array<uint64_t, kFirstLarge> kFirstLevel = {32 << 10, 48 << 10, 64 << 10};
  const uint8_t held = found & 15U;
  if (held == kHeldUnknown) return std::nullopt;
  if (held >= kHeldNowhere) return 0;
  if (held < kFirstLarge) return kFirstLevel.at(held);
  return uint64_t{256 << 10} << (held - kFirstLarge);
}

uint32_t trace_tlb_entries(uint8_t found) {
  constexpr std::array<uint32_t, 4> kEntries = {64, 1536, 2048, 0};
  return kEntries.at(found >> 4U & 3U);
}

TraceReader::TraceReader(const ProcessTrace& process, const TracePiece& piece)
    : process_(process), left_(piece.events), addresses_(process.blocks.size()) {}

bool TraceReader::read_byte(uint8_t& value) {
  if (left_.empty()) return ok_ = false;
  value = static_cast<uint8_t>(left_.front());
  left_.remove_prefix(1);
  return true;
}

bool TraceReader::read_number(uint64_t& value) { return ok_ = ok_ && take_number(left_, value); }

bool TraceReader::read_event(uint64_t& number) {
  if (ahead_) {
    number = *ahead_;
    ahead_.reset();
    return true;
  }
  return !left_.empty() && read_number(number);
}

bool TraceReader::read_access(uint64_t number, TraceStep& step) {
  const TraceBlock& block = process_.blocks[step.block];
  const uint64_t slot = number >> (kTagBits + 1);
  if (slot >= block.watched.size()) return ok_ = false;
  const TraceWatched& watched = block.watched[slot];
  TraceAccess access{watched.instruction, watched.store, watched.bytes, 0, 0};
  uint8_t is = 0;
  uint64_t difference = 0;
  if ((number >> kTagBits & 1U) != 0 && !read_byte(access.found)) return false;
  if (watched.each_told) {
    if (!read_byte(is)) return false;
    if ((is & 0x7fU) > 7) return ok_ = false;
    access.store = (is & 0x80U) != 0;
    access.bytes = static_cast<uint8_t>(1U << (is & 0x7fU));
  }
  if (!read_number(difference)) return false;
  std::vector<uint64_t>& latest = addresses_[step.block];
  if (latest.empty()) latest.resize(block.watched.size());
  latest[slot] += (difference >> 1U) ^ (~(difference & 1U) + 1);
  access.address = latest[slot];
  step.accesses.push_back(access);
  return true;
}

bool TraceReader::next(TraceStep& step) {
  uint64_t number = 0;
  step.accesses.clear();
  step.mispredicted = false;
  step.next_address.reset();
  if (!ok_ || !read_event(number)) return false;
  const uint64_t index = number >> kTagBits;
  if ((number & 3U) == kAccess || index >= process_.blocks.size()) return ok_ = false;
  step.block = static_cast<uint32_t>(index);
  step.again = (number & 3U) == kAgain;
  while (read_event(number)) {
    if ((number & 3U) == kAccess) {
      if (!read_access(number, step)) return false;
      continue;
    }
    const uint64_t following = number >> kTagBits;
    if (following >= process_.blocks.size()) return ok_ = false;
    step.mispredicted = (number & 3U) == kBlockAfterMiss;
    step.next_address = process_.blocks[following].address;
    ahead_ = number;
    break;
  }
  return ok_;
}

}  // namespace perfcast
