#pragma once
// The counts of one launch of a kernel.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/collect/oclgrind/plugin/address_counts.h"
#include "profile/collect/oclgrind/plugin/branch_history.h"
#include "profile/collect/oclgrind/plugin/instruction.h"
#include "profile/collect/oclgrind/plugin/line_cache.h"
#include "profile/collect/oclgrind/plugin/warps.h"

namespace perfcast::kernels {

using Counts = std::map<std::string, double>;

struct LaunchFacts {
  uint64_t number = 0;  // of the kernel's launches, from 0
  std::array<uint64_t, 3> global{}, local{};
  uint64_t groups = 0;
};

struct LaunchResult {
  LaunchFacts launch;
  uint64_t groups_done = 0;        // fewer than there are: the time limit ended it
  uint64_t instructions_done = 0;  // of those groups; `counts` has what the one that was cut did, too
  Counts counts;                   // by kind and more, see README.md
  Counts aiwc;                     // by the columns of the published tables
};

class Launch {
 public:
  explicit Launch(const LaunchFacts& facts);

  void begin_group(uint64_t group);
  void end_group();
  // Work item `index` of the group acts from now on.
  void begin_item(size_t index);
  // True: it was a barrier.
  bool execute(const llvm::Instruction* instruction);
  void access(Space space, bool is_store, bool is_atomic, uint64_t address, uint64_t bytes);
  // By a whole group: copies that it asked for.
  void group_access(Space space, bool is_store, uint64_t address, uint64_t bytes);
  void end_item();
  uint64_t executed() const { return executed_; }
  LaunchResult result() const;

 private:
  struct Instruction {
    InstructionFacts facts;
    uint64_t count = 0;
    Instruction* next = nullptr;  // that came after it last time
    BranchHistory* branch = nullptr;
  };
  struct Access {
    Space space;
    bool is_store, is_atomic;
    uint64_t address, bytes;
  };
  struct Traffic {
    uint64_t loads = 0, stores = 0, load_bytes = 0, store_bytes = 0;
  };
  Instruction* find(const llvm::Instruction* instruction);
  void take_accesses(const Instruction& by);
  void count_address(uint64_t address);
  void end_round();
  void add_aiwc(Counts& counts) const;
  void add_memory(Counts& counts) const;

  LaunchFacts launch_;
  uint64_t groups_done_ = 0, executed_ = 0, executed_in_done_ = 0, items_ = 0;
  std::unordered_map<const llvm::Instruction*, std::unique_ptr<Instruction>> instructions_;
  Instruction *last_ = nullptr, *branch_ = nullptr;
  std::vector<std::unique_ptr<BranchHistory>> branches_;
  std::vector<uint64_t> since_barrier_;  // by item of the group
  uint64_t* item_ = nullptr;             // of the item that acts
  std::map<uint64_t, uint64_t> rounds_;  // by instructions between barriers
  uint64_t barriers_ = 0;

  std::vector<Access> accesses_;    // of the instruction that runs
  std::array<Traffic, 5> traffic_;  // by space
  uint64_t atomics_ = 0, group_copies_ = 0;
  std::vector<uint64_t> group_addresses_;  // of the accesses of the group, in their order
  bool group_is_long_ = false, any_group_is_long_ = false;
  AddressCounts addresses_;
  SectorSet sectors_;
  bool joins_warps_ = false, warp_is_joined_ = false;
  uint64_t group_stride_ = 1;
  Warps warps_;
  LineCache small_, medium_, large_;
  std::array<uint64_t, 4> lines_{};  // used, and misses of the three
};

}  // namespace perfcast::kernels
