#pragma once
// Memory for keys and values of one engine, in blocks of tokens, as paged attention keeps it: blocks of sequences that
// run, blocks of prefixes that ended requests have left behind, and free ones. A block left behind is taken back, least
// recently used first, when nothing else is free.

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

namespace perfcast::ai {

class BlockCache {
 public:
  // A shared prefix block stands for blocks_per_hash blocks (the trace's block over the engine's).
  BlockCache(int64_t blocks, int64_t blocks_per_hash, bool keeps_prefixes);

  int64_t blocks() const { return blocks_; }
  int64_t used_blocks() const { return blocks_ - free_ - left_behind_; }  // of sequences that run
  // That could be had now: free ones, and those left behind.
  int64_t available_blocks() const { return free_ + left_behind_; }

  // Whether so many can be had; takes them. Nothing changes where not.
  bool take(int64_t blocks);
  void give_back(int64_t blocks);

  // How many of the first blocks of a prompt are here.
  int64_t matching(std::span<const uint64_t> prefix) const;
  // Holds the first `count` of `prefix`, which are here, for a sequence: they are not taken back meanwhile.
  void hold(std::span<const uint64_t> prefix, int64_t count);
  // A sequence that computed blocks of its prompt shares the blocks from `from` on: of its own blocks those that are
  // new become blocks of the prefix, held by it; those that another sequence shared meanwhile are given back.
  void share(std::span<const uint64_t> prefix, int64_t from);
  // A sequence ends, or is thrown out: blocks that nobody holds any more are left behind.
  void release(std::span<const uint64_t> prefix, int64_t count);

  bool keeps_prefixes() const { return keeps_prefixes_; }

 private:
  struct Shared {
    int64_t holders = 0;
    std::list<uint64_t>::iterator place;  // in order_, where nobody holds it
  };

  int64_t blocks_, blocks_per_hash_, free_, left_behind_ = 0;
  bool keeps_prefixes_;
  std::unordered_map<uint64_t, Shared> shared_;
  std::list<uint64_t> order_;  // without holders, least recently used first
};

}  // namespace perfcast::ai
