#include "profile/core/simulate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "profile/core/core_resources.h"

namespace perfcast {
namespace {

constexpr uint64_t kLineBytes = 64;
constexpr size_t kForwarded = 1024;          // last stores, by address
constexpr size_t kInFlight = 512;            // last lines fetched, by address
constexpr double kInstructionsPerLine = 12;  // that an op cache keeps of a line of code
constexpr int kFetchedAhead = 48;            // instructions between fetch and renaming
constexpr int kFirstTlbEntries = 64;
// Of a fetch from the second level: the rest is hidden by fetching ahead.
constexpr int kFetchSeen = 2;

PortUse ports_of(CoreOp op) {
  switch (op) {
    case CoreOp::kShift:
      return {kPortShift, kPortAlu};
    case CoreOp::kMultiply:
    case CoreOp::kDivide32:
    case CoreOp::kDivide64:
      return {kPortMultiply, kPortAlu};
    case CoreOp::kBranch:
      return {kPortBranch, kPortAlu};
    case CoreOp::kFloatAdd:
    case CoreOp::kX87:
      return {kPortFloatAdd, kPortVector};
    case CoreOp::kFloatMultiply:
    case CoreOp::kFma:
    case CoreOp::kVectorMultiply:
    case CoreOp::kFloatDivide32:
    case CoreOp::kFloatDivide64:
    case CoreOp::kFloatRoot:
    case CoreOp::kX87Divide:
    case CoreOp::kConvert:
    case CoreOp::kCrypto:
      return {kPortFloatMultiply, kPortVector};
    case CoreOp::kShuffle:
      return {kPortShuffle, kPortVector};
    case CoreOp::kVectorInteger:
    case CoreOp::kTranscendental:
      return {kPortVector, kPortVector};
    default:
      return {kPortAlu, kPortAlu};
  }
}

CoreBound bound_of(CoreOp op) {
  switch (op) {
    case CoreOp::kDivide32:
    case CoreOp::kDivide64:
    case CoreOp::kFloatDivide32:
    case CoreOp::kFloatDivide64:
    case CoreOp::kFloatRoot:
    case CoreOp::kX87Divide:
      return CoreBound::kDivide;
    default:
      return ports_of(op).all == kPortVector ? CoreBound::kFloat : CoreBound::kInteger;
  }
}

// Operations that share a unit which is not pipelined.
CoreOp unit_of(CoreOp op) {
  switch (op) {
    case CoreOp::kDivide64:
      return CoreOp::kDivide32;
    case CoreOp::kFloatDivide64:
    case CoreOp::kFloatRoot:
    case CoreOp::kX87Divide:
      return CoreOp::kFloatDivide32;
    default:
      return op;
  }
}

struct Found {
  Cycle ready = 0;
  CoreBound bound = CoreBound::kL1;
};

// What an operation takes of one design, in whole cycles.
struct OpPlan {
  PortUse ports{};
  CoreBound bound = CoreBound::kInteger;
  CoreOp unit = CoreOp::kNothing;
  bool slow = false;  // its unit is busy for more than a cycle
  double interval_cycles = 0;
  Cycle latency = 0;
};

std::array<OpPlan, kCoreOps> plan_ops(const CoreDesign& design) {
  std::array<OpPlan, kCoreOps> plans;
  for (size_t i = 0; i < kCoreOps; ++i) {
    const auto op = static_cast<CoreOp>(i);
    const CoreOpCost& cost = design.cost(op);
    plans.at(i) = {ports_of(op),         bound_of(op),
                   unit_of(op),          cost.interval_cycles > 1,
                   cost.interval_cycles, std::llround(cost.latency_cycles)};
  }
  return plans;
}

// held_kib - 1 below this: a cache of that size holds the line; memory, 0, never.
uint32_t held_below(double bytes) { return static_cast<uint32_t>(std::clamp(bytes / 1024, 0.0, 4e9)); }

class Core {
 public:
  Core(const DecodedProcess& process, const CoreDesign& design)
      : process_(process),
        design_(design),
        ops_(plan_ops(design)),
        in_l1_(held_below(design.l1d_bytes)),
        in_l2_(held_below(design.l2_bytes)),
        in_l3_(held_below(design.l3_bytes)),
        memory_latency_(std::llround(design.memory_cycles())),
        memory_queue_(static_cast<Cycle>(design.memory_cycles())),
        line_interval_(std::llround(design.line_ns * 1e-9 * design.clock_hz)),
        fetched_ahead_(static_cast<double>(kFetchedAhead) / design.width),
        calendar_(design.ports),
        code_(design.l1i_bytes / kLineBytes),
        decoded_(design.op_cache_instructions / kInstructionsPerLine),
        targets_(design.btb_entries),
        window_(design.window),
        loads_(design.load_queue),
        stores_(design.store_queue),
        misses_(design.misses) {}

  void run(const DecodedPiece& piece, CoreResult& result);

 private:
  struct Store {
    uint64_t granule = 0;
    Cycle data = -1, drained = -1;
    uint64_t instruction = 0;  // number of the one that stored
    uint32_t named = 0;        // the registers that named its address
  };
  struct Line {
    uint64_t line = 0;
    Cycle ready = 0;
    CoreBound from = CoreBound::kL2;
  };

  void fetch(const DecodedBlock& block);
  void take_branch(const DecodedBlock& block);
  // The time of the front end passes; it runs ahead of renaming by so many instructions.
  void front_takes(double cycles);
  bool mirrors(const Store& before) const;
  void execute(const CoreInstruction& instruction, const CoreAccess* accesses, size_t count);
  Cycle rename(const CoreInstruction& instruction, size_t loads, size_t stores);
  Found load(const CoreAccess& access, bool vector, Cycle ready);
  Found line_from(const CoreAccess& access, Cycle issue);
  void store(const CoreAccess& access, Cycle ready, Cycle retired);
  void retire(int slots, Cycle done, Cycle renamed, Cycle ready, Cycle issued, CoreBound bound);
  void book_cycles(CoreBound bound, Cycle cycles) { by_bound_[static_cast<size_t>(bound)] += cycles; }

  const DecodedProcess& process_;
  const CoreDesign& design_;
  const std::array<OpPlan, kCoreOps> ops_;
  const uint32_t in_l1_, in_l2_, in_l3_;
  const Cycle memory_latency_, memory_queue_, line_interval_;
  const double fetched_ahead_;  // cycles that the front end runs ahead of renaming
  Calendar calendar_;
  CodeCache code_, decoded_, targets_;
  uint64_t code_line_ = 0;
  double front_time_ = 0;  // until when the front end is busy with what it has fetched
  uint64_t instruction_ = 0;
  uint32_t named_ = 0;                               // registers that name the addresses of the instruction at hand
  std::array<uint64_t, kTraceRegisters> written_{};  // by which instruction last
  Ring window_, loads_, stores_, misses_;
  std::array<Cycle, kTraceRegisters> registers_{};
  std::array<Cycle, kCoreOps> unit_free_{};
  std::array<Store, kForwarded> forwarded_{};
  std::array<Line, kInFlight> in_flight_{};
  Cycle renaming_ = 0, front_ready_ = 0, retiring_ = 0, drained_ = 0, memory_free_ = 0;
  int renamed_now_ = 0, retired_now_ = 0, drained_now_ = 0;
  CoreBound front_bound_ = CoreBound::kWidth, renaming_bound_ = CoreBound::kWidth;
  CoreBound draining_ = CoreBound::kL1;  // where the line of the last store that waited for it came from
  Cycle branch_done_ = 0;
  std::array<Cycle, kCoreBounds> by_bound_{};
};

void Core::front_takes(double cycles) {
  const double earliest = static_cast<double>(renaming_) - fetched_ahead_;
  front_time_ = std::max(front_time_, earliest) + cycles;
  const auto ready = static_cast<Cycle>(front_time_);
  if (ready <= std::max(front_ready_, renaming_)) return;
  front_ready_ = ready;
  front_bound_ = CoreBound::kFetch;
}

void Core::fetch(const DecodedBlock& block) {
  double cycles = 0;
  const uint64_t end = block.address + block.bytes;
  for (uint64_t line = block.address / kLineBytes; line <= (end - 1) / kLineBytes; ++line) {
    if (line == code_line_) continue;
    code_line_ = line;
    if (!code_.holds(line)) cycles += static_cast<double>(design_.l2_cycles) / kFetchSeen;
    if (design_.op_cache_instructions > 0 && decoded_.holds(line)) continue;
    const uint64_t from = std::max(block.address, line * kLineBytes), to = std::min(end, (line + 1) * kLineBytes);
    const auto bytes = static_cast<double>(to - from);
    cycles += std::max(bytes / design_.fetch_bytes, bytes * block.count / block.bytes / design_.decode_width);
  }
  if (cycles > 0) front_takes(cycles);
}

void Core::take_branch(const DecodedBlock& block) {
  const uint64_t end = block.address + block.bytes;
  const bool known = targets_.holds(end ^ end >> 6U ^ end >> 12U);  // as the ends of blocks fall on all sets
  front_takes(design_.taken_branches_cycles + (known ? 0 : design_.btb_miss_cycles));
}

Cycle Core::rename(const CoreInstruction& instruction, size_t loads, size_t stores) {
  Cycle cycle = std::max({renaming_, front_ready_, window_.oldest()});
  renaming_bound_ = CoreBound::kWidth;
  if (loads > 0) cycle = std::max(cycle, loads_.oldest());
  if (stores > 0 && stores_.oldest() > cycle) {
    cycle = stores_.oldest();
    renaming_bound_ = draining_;
  }
  calendar_.advance(cycle);
  while (calendar_.waiting() >= design_.scheduler) {
    calendar_.advance(calendar_.now() + 1);
    renaming_bound_ = CoreBound::kPorts;
  }
  cycle = calendar_.now();
  if (cycle > renaming_) {
    renaming_ = cycle;
    renamed_now_ = 0;
  }
  renamed_now_ += instruction.slots;
  while (renamed_now_ > design_.width) {
    renamed_now_ -= design_.width;
    ++renaming_;
  }
  return renaming_;
}

Found Core::line_from(const CoreAccess& access, Cycle issue) {
  const uint64_t line = access.address / kLineBytes;
  const uint32_t held = access.held_kib - 1;  // memory: the largest
  Line& known = in_flight_[line % kInFlight];
  const Cycle hit = issue + design_.l1d_cycles;
  if (held < in_l1_) {
    if (known.line == line && known.ready > hit) return {known.ready, known.from};
    return {hit, CoreBound::kL1};
  }
  Found found;
  const Cycle begin = std::max(issue, misses_.oldest());
  if (held < in_l2_) {
    found = {access.streamed ? hit + 1 : begin + design_.l2_cycles, CoreBound::kL2};
  } else if (held < in_l3_) {
    found = {access.streamed ? issue + design_.l2_cycles : begin + design_.l3_cycles, CoreBound::kL3};
  } else {
    memory_free_ = std::max(memory_free_, issue - memory_queue_) + line_interval_;
    const Cycle alone = access.streamed ? issue + design_.l2_cycles : begin + memory_latency_;
    found = {std::max(alone, memory_free_), CoreBound::kMemory};
  }
  if (!access.streamed) misses_.push(found.ready);
  known = {line, found.ready, found.bound};
  return found;
}

Found Core::load(const CoreAccess& access, bool vector, Cycle ready) {
  Cycle issue = calendar_.book({kPortLoad, kPortMemory}, ready);
  const Store& before = forwarded_[(access.address >> 3U) % kForwarded];
  if (before.granule == access.address >> 3U && before.drained > issue) {
    // Renaming finds the store without its address; then the load need not wait for its own. General registers alone.
    const bool whole = !vector && (access.bytes == 4 || access.bytes == 8);
    if (design_.mirror_cycles < design_.forward_cycles && whole && mirrors(before))
      return {std::max(ready, before.data + design_.mirror_cycles), CoreBound::kL1};
    return {std::max(issue + design_.l1d_cycles, before.data + design_.forward_cycles), CoreBound::kL1};
  }
  const int held_by = access.tlb_entries;
  const bool walk = held_by == 0 || held_by > std::max(design_.tlb_entries, kFirstTlbEntries);
  if (walk) {
    issue += design_.page_walk_cycles;
  } else if (held_by > kFirstTlbEntries) {
    issue += design_.tlb_miss_cycles;
  }
  Found found = line_from(access, issue);
  if (vector) found.ready += design_.l1d_vector_cycles - design_.l1d_cycles;
  if (walk && found.bound == CoreBound::kL1) found.bound = CoreBound::kTlb;
  return found;
}

bool Core::mirrors(const Store& before) const {
  if (named_ == 0 || before.named != named_) return false;
  for (uint32_t left = named_; left != 0; left >>= 8U) {
    if (written_[(left & 0xffU) - 1] > before.instruction) return false;
  }
  return true;
}

// Written in order after it retired; the line was asked for when the address was known.
void Core::store(const CoreAccess& access, Cycle ready, Cycle retired) {
  const Found found = line_from(access, ready);
  Cycle drained = std::max({drained_, retired + 1, found.ready});
  if (drained > drained_) {
    if (found.ready == drained) draining_ = found.bound;
    drained_now_ = 1;
  } else if (++drained_now_ > design_.ports.store) {
    ++drained;
    drained_now_ = 1;
  }
  drained_ = drained;
  stores_.push(drained_);
  for (uint64_t granule = access.address >> 3U; granule <= (access.address + std::max<int>(access.bytes, 1) - 1) >> 3U;
       ++granule) {
    forwarded_[granule % kForwarded] = {granule, ready, drained_, instruction_, named_};
  }
}

void Core::retire(int slots, Cycle done, Cycle renamed, Cycle ready, Cycle issued, CoreBound bound) {
  if (done <= retiring_) {
    retired_now_ += slots;
    if (retired_now_ > design_.width) {
      retired_now_ = 1;
      ++retiring_;
      book_cycles(CoreBound::kWidth, 1);
    }
    return;
  }
  Cycle from = retiring_;
  // As many as the core is wide went in the cycle before: the next can't but be the one after.
  if (retired_now_ >= design_.width) {
    book_cycles(CoreBound::kWidth, 1);
    ++from;
  }
  const auto until = [&](Cycle to, CoreBound what) {
    to = std::min(to, done);
    if (to <= from) return;
    book_cycles(what, to - from);
    from = to;
  };
  until(renamed, renamed <= front_ready_ ? front_bound_ : renaming_bound_);
  until(ready, bound);
  until(issued, CoreBound::kPorts);
  until(done, bound);
  retiring_ = done;
  retired_now_ = 1;
}

void Core::execute(const CoreInstruction& instruction, const CoreAccess* accesses, size_t count) {
  size_t loads = 0;
  for (size_t i = 0; i < count; ++i) loads += accesses[i].store ? 0 : 1;
  const size_t stores = count - loads;
  const Cycle renamed = rename(instruction, loads, stores);
  const uint8_t* named = instruction.registers;
  Cycle sources = renamed + 1, addresses = renamed + 1;
  for (size_t i = 0; i < instruction.sources; ++i) sources = std::max(sources, registers_[named[i]]);
  named += instruction.sources;
  ++instruction_;
  named_ = 0;
  for (size_t i = 0; i < instruction.addresses; ++i) {
    addresses = std::max(addresses, registers_[named[i]]);
    named_ = named_ << 8U | (named[i] + 1U);
  }
  named += instruction.addresses;

  const OpPlan& op = ops_[static_cast<size_t>(instruction.op)];
  CoreBound bound = op.bound;
  Cycle ready = sources, issued = sources, done = sources;
  bool waits = false;
  if (instruction.loads > 0 || loads > 0) {
    Found last{addresses + design_.l1d_cycles, CoreBound::kL1};
    if (loads == 0) {  // not told: the top of the stack, nearly always
      last.ready = calendar_.book({kPortLoad, kPortMemory}, addresses) + design_.l1d_cycles;
    }
    for (size_t i = 0; i < count; ++i) {
      if (accesses[i].store) continue;
      const Found found = load(accesses[i], instruction.vector_load, addresses);
      if (found.ready > last.ready || i == 0) last = found;
    }
    ready = std::max(sources, last.ready);
    if (last.ready >= sources) bound = last.bound;
    done = issued = ready;
    waits = true;
  }
  const bool eliminated = instruction.move && design_.eliminates_moves;
  if (instruction.op != CoreOp::kNothing && !eliminated) {
    const int parts = instruction.vector_bytes > design_.vector_bytes
                          ? (instruction.vector_bytes + design_.vector_bytes - 1) / design_.vector_bytes
                          : 1;
    Cycle& free = unit_free_[static_cast<size_t>(op.unit)];
    issued = calendar_.book(op.ports, op.slow ? std::max(ready, free) : ready);
    for (int part = 1; part < parts; ++part) issued = calendar_.book(op.ports, issued);
    if (op.slow) free = issued + static_cast<Cycle>(std::llround(op.interval_cycles * parts));
    done = issued + op.latency + (instruction.transfer ? design_.transfer_cycles : 0);
    waits = true;
  }
  if (waits) {
    calendar_.enter();
    calendar_.leave_at(std::max(issued, calendar_.now()));
  }
  for (size_t i = 0; i < instruction.results; ++i) {
    registers_[named[i]] = done;
    written_[named[i]] = instruction_;
  }
  branch_done_ = done;
  Cycle stored = done;
  if (stores > 0) stored = std::max(done, calendar_.book({kPortStore, kPortMemory}, std::max(addresses, done)));
  retire(std::min<int>(instruction.slots, 1), stored, renamed, ready, issued, bound);
  window_.push(retiring_);
  for (size_t i = 0; i < count; ++i) {
    if (accesses[i].store) {
      store(accesses[i], stored, retiring_);
    } else {
      loads_.push(retiring_);
    }
  }
}

void Core::run(const DecodedPiece& piece, CoreResult& result) {
  by_bound_ = {};
  const Cycle begin = retiring_;
  static constexpr CoreInstruction kChunk{};
  for (size_t at = 0; at < piece.steps.size(); ++at) {
    const CoreStep& step = piece.steps[at];
    const CoreAccess* access = piece.accesses.data() + step.accesses;
    const CoreAccess* const end =
        piece.accesses.data() + (at + 1 < piece.steps.size() ? piece.steps[at + 1].accesses : piece.accesses.size());
    if (step.again) {
      for (; access != end; ++access) {
        CoreInstruction chunk = kChunk;
        chunk.loads = access->store ? 0 : 1;
        execute(chunk, access, 1);
      }
      continue;
    }
    const DecodedBlock& block = process_.blocks[step.block];
    if (block.bytes > 0) fetch(block);
    for (uint32_t i = 0; i < block.count; ++i) {
      const CoreAccess* const first = access;
      while (access != end && access->instruction == i) ++access;
      execute(process_.instructions[block.first + i], first, static_cast<size_t>(access - first));
    }
    if (step.mispredicted) {
      front_ready_ = std::max(front_ready_, branch_done_ + design_.mispredict_cycles);
      front_time_ = std::max(front_time_, static_cast<double>(front_ready_));
      front_bound_ = CoreBound::kMispredict;
    } else if (step.taken) {
      take_branch(block);
    }
  }
  const auto cycles = static_cast<double>(retiring_ - begin);
  if (piece.instructions_count == 0) return;
  const double weight = piece.stands_for_count / static_cast<double>(piece.instructions_count);
  result.instructions_count += piece.stands_for_count;
  result.cycles += weight * cycles;
  for (size_t i = 0; i < kCoreBounds; ++i) result.cycles_by_bound[i] += weight * static_cast<double>(by_bound_[i]);
}

}  // namespace

std::string_view core_bound_name(CoreBound bound) {
  constexpr std::array<std::string_view, kCoreBounds> kNames = {
      "width", "fetch", "mispredicted", "ports", "integer", "float", "divide", "L1", "L2", "L3", "memory", "TLB"};
  return kNames[static_cast<size_t>(bound)];
}

CoreResult simulate_core(const DecodedProcess& process, const CoreDesign& design) {
  Core core(process, design);
  CoreResult result;
  for (const DecodedPiece& piece : process.pieces) core.run(piece, result);
  return result;
}

}  // namespace perfcast
