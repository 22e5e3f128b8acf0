#include "profile/collect/oclgrind/plugin/launch.h"

#include <llvm/IR/Instruction.h>

#include <algorithm>
#include <cmath>

namespace perfcast::kernels {
namespace {

constexpr size_t kAddressBytes = size_t{2} << 30;
constexpr size_t kGroupAddresses = size_t{32} << 20;
constexpr unsigned kOffsetBits = 48;  // of an address; above it is the buffer's number
constexpr uint64_t kJoinedGroups = 256;
constexpr size_t kJoinedWarps = 8;  // of a group
constexpr uint64_t kSmallBytes = uint64_t{16} << 10, kMediumBytes = uint64_t{512} << 10,
                   kLargeBytes = uint64_t{4} << 20;

double number(uint64_t count) { return static_cast<double>(count); }

size_t place_of(Space space) { return static_cast<size_t>(space); }

}  // namespace

Launch::Launch(const LaunchFacts& facts)
    : launch_(facts),
      addresses_(kAddressBytes),
      group_stride_(std::max<uint64_t>(1, facts.groups / kJoinedGroups)),
      small_(kSmallBytes),
      medium_(kMediumBytes),
      large_(kLargeBytes) {}

void Launch::begin_group(uint64_t group) {
  const uint64_t items = launch_.local[0] * launch_.local[1] * launch_.local[2];
  since_barrier_.assign(items, 0);
  item_ = nullptr;
  joins_warps_ = group % group_stride_ == 0;
  small_.clear();
}

// The published rows of AIWC count the second half of the accesses of each work group, in time.
void Launch::end_group() {
  for (size_t i = group_addresses_.size() / 2; i < group_addresses_.size(); ++i) addresses_.add(group_addresses_[i]);
  group_addresses_.clear();
  group_is_long_ = false;
  warps_.end_group();
  ++groups_done_;
  executed_in_done_ = executed_;
}

void Launch::begin_item(size_t index) {
  if (index >= since_barrier_.size()) since_barrier_.resize(index + 1);
  item_ = &since_barrier_[index];
  // Warps spread over the group.
  const size_t warps = (since_barrier_.size() + Warps::kLanes - 1) / Warps::kLanes;
  const size_t stride = std::max<size_t>(1, warps / kJoinedWarps);
  warp_is_joined_ = joins_warps_ && index / Warps::kLanes % stride == 0;
  if (warp_is_joined_) warps_.begin_item(index);
}

Launch::Instruction* Launch::find(const llvm::Instruction* instruction) {
  std::unique_ptr<Instruction>& entry = instructions_[instruction];
  if (!entry) {
    entry = std::make_unique<Instruction>();
    entry->facts = facts_of(*instruction);
    entry->facts.number = static_cast<uint32_t>(instructions_.size() - 1);
    if (entry->facts.kind == Kind::kBranch) {
      branches_.push_back(std::make_unique<BranchHistory>());
      entry->branch = branches_.back().get();
    }
  }
  return entry.get();
}

bool Launch::execute(const llvm::Instruction* instruction) {
  Instruction* now = last_ != nullptr ? last_->next : nullptr;
  if (now == nullptr || now->facts.instruction != instruction) {
    now = find(instruction);
    if (last_ != nullptr) last_->next = now;
  }
  last_ = now;
  if (branch_ != nullptr) {
    branch_->branch->add(instruction->getParent() == branch_->facts.taken);
    branch_ = nullptr;
  }
  if (!accesses_.empty()) take_accesses(*now);
  if (now->facts.kind == Kind::kIgnored) return false;
  ++now->count;
  ++executed_;
  if (item_ != nullptr) ++*item_;
  if (now->branch != nullptr) branch_ = now;
  if (now->facts.kind != Kind::kBarrier) return false;
  ++barriers_;
  end_round();
  return true;
}

void Launch::end_round() {
  if (item_ == nullptr) return;
  ++rounds_[*item_];
  if (warp_is_joined_) warps_.end_item(*item_);
  *item_ = 0;
}

void Launch::end_item() {
  ++items_;
  end_round();
}

void Launch::access(Space space, bool is_store, bool is_atomic, uint64_t address, uint64_t bytes) {
  accesses_.push_back({space, is_store, is_atomic, address, bytes});
}

void Launch::group_access(Space space, bool is_store, uint64_t address, uint64_t bytes) {
  ++group_copies_;
  Traffic& traffic = traffic_[place_of(space)];
  ++(is_store ? traffic.stores : traffic.loads);
  (is_store ? traffic.store_bytes : traffic.load_bytes) += bytes;
  count_address(address);
  if (space == Space::kGlobal)
    sectors_.add(address >> kOffsetBits, address & ((uint64_t{1} << kOffsetBits) - 1), bytes);
}

// Like the published rows: an address is the place in its buffer, whichever it is.
void Launch::count_address(uint64_t address) {
  const uint64_t offset = address & ((uint64_t{1} << kOffsetBits) - 1);
  if (group_is_long_) {
    addresses_.add(offset);
    return;
  }
  group_addresses_.push_back(offset);
  if (group_addresses_.size() < kGroupAddresses) return;
  for (const uint64_t each : group_addresses_) addresses_.add(each);
  group_addresses_.clear();
  group_is_long_ = any_group_is_long_ = true;
}

void Launch::take_accesses(const Instruction& by) {
  for (const Access& access : accesses_) {
    count_address(access.address);
    const bool is_constant = access.space == Space::kGlobal && by.facts.space == Space::kConstant;
    Traffic& traffic = traffic_[place_of(is_constant ? Space::kConstant : access.space)];
    ++(access.is_store ? traffic.stores : traffic.loads);
    (access.is_store ? traffic.store_bytes : traffic.load_bytes) += access.bytes;
    if (access.is_atomic && access.is_store) ++atomics_;
    if (access.space == Space::kLocal && warp_is_joined_) warps_.local(by.facts.number, access.address, access.bytes);
    if (access.space != Space::kGlobal || is_constant) continue;
    sectors_.add(access.address >> kOffsetBits, access.address & ((uint64_t{1} << kOffsetBits) - 1), access.bytes);
    // An atomic operation is one access that reads and writes.
    if (warp_is_joined_ && !(access.is_atomic && !access.is_store))
      warps_.global(by.facts.number, access.address, access.bytes);
    const uint64_t line = access.address >> LineCache::kLineBits;
    ++lines_[0];
    if (!small_.use(line)) ++lines_[1];
    if (!medium_.use(line)) ++lines_[2];
    if (!large_.use(line)) ++lines_[3];
  }
  accesses_.clear();
}

void Launch::add_memory(Counts& counts) const {
  constexpr std::array<const char*, 5> kSpaces = {"private", "global", "constant", "local", "unknown"};
  for (size_t i = 0; i < kSpaces.size(); ++i) {
    const Traffic& traffic = traffic_[i];
    const std::string name = kSpaces[i];
    counts[name + "_loads"] = number(traffic.loads);
    counts[name + "_stores"] = number(traffic.stores);
    counts[name + "_load_bytes"] = number(traffic.load_bytes);
    counts[name + "_store_bytes"] = number(traffic.store_bytes);
  }
  counts["atomics"] = number(atomics_);
  const double footprint = number(sectors_.sectors()) * static_cast<double>(1U << SectorSet::kSectorBits);
  counts["global_footprint_bytes"] = footprint;
  const WarpSums& sums = warps_.sums();
  const auto put_ratio = [&](const char* name, double part, double whole) {
    if (whole > 0) counts[name] = part / whole;
  };
  put_ratio("transactions_per_access", number(sums.transactions), number(sums.accesses));
  put_ratio("bytes_used_per_moved", number(sums.bytes),
            number(sums.transactions) * static_cast<double>(1U << SectorSet::kSectorBits));
  put_ratio("passes_per_local_access", number(sums.local_passes), number(sums.local_accesses));
  put_ratio("busy_lanes", number(sums.instructions), number(sums.instructions_if_all));
  put_ratio("miss_16k", number(lines_[1]), number(lines_[0]));
  put_ratio("miss_512k", number(lines_[2]), number(lines_[0]));
  put_ratio("miss_4m", number(lines_[3]), number(lines_[0]));
  const Traffic& global = traffic_[place_of(Space::kGlobal)];
  put_ratio("reuse", number(global.load_bytes + global.store_bytes), footprint);
}

// Johnston and Milthorpe, "AIWC: OpenCL-based architecture-independent workload characterization", 2018; where the
// paper leaves room, as the published rows are.
void Launch::add_aiwc(Counts& counts) const {
  std::map<uint32_t, uint64_t> by_opcode;
  std::map<uint32_t, uint64_t> by_width;
  std::vector<uint64_t> by_branch;
  double linear = 0, yokota = 0, windows = 0;
  for (const auto& [instruction, entry] : instructions_) {
    if (entry->count == 0) continue;
    by_opcode[entry->facts.opcode] += entry->count;
    by_width[entry->facts.width] += entry->count;
    if (entry->branch == nullptr) continue;
    by_branch.push_back(entry->count);
    linear += entry->branch->linear_sum();
    yokota += entry->branch->yokota_bits();
    windows += number(entry->branch->windows());
  }
  const auto most_of = [](std::vector<uint64_t> parts) {
    std::sort(parts.rbegin(), parts.rend());
    uint64_t all = 0, sum = 0;
    for (const uint64_t part : parts) all += part;
    uint64_t needed = 0;
    for (; needed < parts.size() && 10 * sum < 9 * all; ++needed) sum += parts[needed];
    return number(needed);
  };
  std::vector<uint64_t> opcodes;
  for (const auto& [opcode, count] : by_opcode) opcodes.push_back(count);
  counts["opcode"] = most_of(opcodes);
  counts["total_unique_branch_instructions"] = number(by_branch.size());
  counts["ninety_percent_branch_instructions"] = most_of(by_branch);
  counts["branch_entropy_yokota"] = yokota;
  counts["branch_entropy_average_linear"] = windows > 0 ? linear / windows : 0;

  const double all = number(executed_);
  double operands = 0, squares = 0;
  for (const auto& [width, count] : by_width) {
    operands += static_cast<double>(width) * number(count);
    squares += static_cast<double>(width) * static_cast<double>(width) * number(count);
  }
  const double mean = operands / all;
  counts["total_instruction_count"] = all;
  counts["workitems"] = number(items_);
  counts["operand_sum"] = operands;
  counts["granularity"] = 1 / all;
  counts["barriers_per_instruction"] = (number(barriers_) + 1) / all;
  counts["instructions_per_operand"] = all / operands;
  counts["total_barriers_hit"] = number(barriers_);
  counts["max_simd_width"] = static_cast<double>(by_width.rbegin()->first);
  counts["mean_simd_width"] = mean;
  counts["stddev_simd_width"] = std::sqrt(std::max(0.0, squares / all - mean * mean));

  uint64_t rounds = 0;
  for (const auto& [length, count] : rounds_) rounds += count;
  const auto at = [&](uint64_t rank) {
    for (const auto& [length, count] : rounds_) {
      if (rank < count) return number(length);
      rank -= count;
    }
    return 0.0;
  };
  if (rounds > 0) {
    counts["min_instructions_to_barrier"] = number(rounds_.begin()->first);
    counts["max_instructions_to_barrier"] = number(rounds_.rbegin()->first);
    counts["median_instructions_to_barrier"] = (at((rounds - 1) / 2) + at(rounds / 2)) / 2;
  }

  if (!addresses_.complete()) return;
  const AddressFacts facts = addresses_.facts();
  counts["total_memory_footprint"] = number(facts.addresses);
  counts["ninety_percent_memory_footprint"] = number(facts.addresses_of_90_percent);
  counts["global_memory_address_entropy"] = facts.entropy_bits[0];
  for (size_t bits = 1; bits < kEntropyLevels; ++bits)
    counts["local_memory_address_entropy_" + std::to_string(bits)] = facts.entropy_bits[bits];
}

LaunchResult Launch::result() const {
  LaunchResult result;
  result.launch = launch_;
  result.groups_done = groups_done_;
  result.instructions_done = executed_in_done_;
  if (executed_ == 0) return result;
  Counts& counts = result.counts;
  for (const char* name : kKindNames) counts[name] = 0;
  double items_of_data = 0, flops = 0, doubles = 0;
  for (const auto& [instruction, entry] : instructions_) {
    const InstructionFacts& facts = entry->facts;
    if (facts.kind == Kind::kIgnored) continue;
    counts[kKindNames.at(static_cast<size_t>(facts.kind))] += number(entry->count);
    const double data = number(entry->count) * facts.width;
    items_of_data += data;
    const bool is_arithmetic = facts.kind == Kind::kFpAdd || facts.kind == Kind::kFpMul || facts.kind == Kind::kFpDiv;
    if (is_arithmetic) flops += data;
    if (facts.kind == Kind::kFpFma) flops += 2 * data;
    if (facts.is_double && (is_arithmetic || facts.kind == Kind::kFpFma || facts.kind == Kind::kSpecial))
      doubles += number(entry->count);
  }
  counts["instructions"] = number(executed_);
  counts["data_items"] = items_of_data;
  counts["flops"] = flops;
  counts["fp64"] = doubles;
  counts["items"] = number(items_);
  counts["groups"] = number(launch_.groups);
  counts["group_items"] = number(launch_.local[0] * launch_.local[1] * launch_.local[2]);
  add_memory(counts);
  add_aiwc(result.aiwc);
  return result;
}

}  // namespace perfcast::kernels
