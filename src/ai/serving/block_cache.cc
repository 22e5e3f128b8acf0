#include "ai/serving/block_cache.h"

#include <algorithm>
#include <cassert>

namespace perfcast::ai {

BlockCache::BlockCache(int64_t blocks, int64_t blocks_per_hash, bool keeps_prefixes)
    : blocks_(blocks), blocks_per_hash_(blocks_per_hash), free_(blocks), keeps_prefixes_(keeps_prefixes) {}

bool BlockCache::take(int64_t blocks) {
  if (blocks > free_ + left_behind_) return false;
  while (free_ < blocks) {
    shared_.erase(order_.front());
    order_.pop_front();
    free_ += blocks_per_hash_;
    left_behind_ -= blocks_per_hash_;
  }
  free_ -= blocks;
  return true;
}

void BlockCache::give_back(int64_t blocks) {
  free_ += blocks;
  assert(free_ + left_behind_ <= blocks_);
}

int64_t BlockCache::matching(std::span<const uint64_t> prefix) const {
  if (!keeps_prefixes_) return 0;
  int64_t count = 0;
  for (const uint64_t hash : prefix) {
    if (!shared_.contains(hash)) break;
    ++count;
  }
  return count;
}

void BlockCache::hold(std::span<const uint64_t> prefix, int64_t count) {
  for (const uint64_t hash : prefix.first(static_cast<size_t>(count))) {
    Shared& shared = shared_.at(hash);
    if (shared.holders++ == 0) {
      order_.erase(shared.place);
      left_behind_ -= blocks_per_hash_;
    }
  }
}

void BlockCache::share(std::span<const uint64_t> prefix, int64_t from) {
  for (const uint64_t hash : prefix.subspan(static_cast<size_t>(from))) {
    const auto [at, is_new] = shared_.try_emplace(hash);
    Shared& shared = at->second;
    if (!is_new) {
      give_back(blocks_per_hash_);
      if (shared.holders == 0) {
        order_.erase(shared.place);
        left_behind_ -= blocks_per_hash_;
      }
    }
    ++shared.holders;
  }
}

void BlockCache::release(std::span<const uint64_t> prefix, int64_t count) {
  // From the end: a block is of no use without those before it, so it is to go first.
  for (int64_t i = count - 1; i >= 0; --i) {
    Shared& shared = shared_.at(prefix[static_cast<size_t>(i)]);
    if (--shared.holders > 0) continue;
    shared.place = order_.insert(order_.end(), prefix[static_cast<size_t>(i)]);
    left_behind_ += blocks_per_hash_;
  }
}

}  // namespace perfcast::ai
