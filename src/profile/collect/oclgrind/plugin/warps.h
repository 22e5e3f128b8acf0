#pragma once
// What 32 neighbouring work items do together on a GPU: the memory sectors that one access of all of them touches,
// the passes that one access to local memory takes, and how many of them work at a time.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace perfcast::kernels {

struct WarpSums {
  uint64_t accesses = 0;      // to global memory, of 32 items together
  uint64_t transactions = 0;  // different 32-byte sectors of each
  uint64_t bytes = 0;         // that the items asked for
  uint64_t local_accesses = 0;
  uint64_t local_passes = 0;         // the most different words of one of 32 banks, each 4 bytes wide
  uint64_t instructions = 0;         // of all items
  uint64_t instructions_if_all = 0;  // 32 times those of the busiest item
};

// Fed item by item: work items run one after the other up to a barrier or their end. The n-th execution of an
// instruction by one item is joined with the n-th by its neighbours.
class Warps {
 public:
  static constexpr unsigned kLanes = 32;

  // The item that acts from now on, by its index in its group. A lower lane than before, or another warp, is a new
  // round.
  void begin_item(size_t index);
  // At a barrier or the end of the item: instructions since the last one.
  void end_item(uint64_t instructions);
  void end_group() { flush(); }
  void global(uint32_t instruction, uint64_t address, uint64_t bytes);
  void local(uint32_t instruction, uint64_t address, uint64_t bytes);
  const WarpSums& sums() const { return sums_; }
  void clear();

 private:
  static constexpr uint32_t kMostRounds = 4096;  // of one instruction up to a barrier; later ones are left out

  struct Joined {
    uint64_t bytes = 0;
    bool is_local = false;
    std::vector<uint64_t> places;  // sectors, or words of local memory; each once
  };
  struct Instruction {
    uint32_t rounds = 0;  // of the item that acts
    std::vector<Joined> joined;
  };
  void add(uint32_t instruction, uint64_t address, uint64_t bytes, unsigned place_bits, bool is_local);
  void flush();

  std::vector<Instruction> instructions_;
  std::vector<uint32_t> used_;  // instructions with rounds of the item that acts
  size_t warp_ = SIZE_MAX, lane_ = 0;
  uint64_t sum_ = 0, most_ = 0;
  WarpSums sums_;
};

}  // namespace perfcast::kernels
