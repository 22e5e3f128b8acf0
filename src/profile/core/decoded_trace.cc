#include "profile/core/decoded_trace.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>

#include "base/random.h"

namespace perfcast {
namespace {

constexpr uint32_t kUnknownKib = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kFirstLevelKib = 32;
constexpr uint32_t kSampledFromKib = 256;
constexpr uint32_t kWhereNoneWasFollowedKib = 1024;
constexpr uint64_t kEnoughOfAPiece = 50;
// The plugin's hold a hundred thousand instructions.
constexpr uint64_t kMostOfAPiece = 10'000'000;
constexpr int64_t kLongestStrideBytes = 2048;
constexpr int kStridesSeen = 2;
constexpr uint64_t kStringChunkBytes = 32;
constexpr uint8_t kTranscendentalSlots = 50;
constexpr uint8_t kAtomicSlots = 6;

CoreOp op_of(const std::string& name, const TraceInstruction& instruction) {
  const bool wide = instruction.float_bytes != 4;
  static const std::map<std::string, CoreOp, std::less<>> kOps = {
      {"int_alu", CoreOp::kAlu},
      {"int_mul", CoreOp::kMultiply},
      {"logic", CoreOp::kAlu},
      {"shift", CoreOp::kShift},
      {"mov", CoreOp::kAlu},
      {"lea", CoreOp::kAlu},
      {"select", CoreOp::kAlu},
      {"push_pop", CoreOp::kNothing},
      {"cond_branch", CoreOp::kBranch},
      {"jump", CoreOp::kBranch},
      {"ind_branch", CoreOp::kBranch},
      {"call", CoreOp::kBranch},
      {"ind_call", CoreOp::kBranch},
      {"ret", CoreOp::kBranch},
      {"fp_scalar_add", CoreOp::kFloatAdd},
      {"fp_scalar_mul", CoreOp::kFloatMultiply},
      {"fp_scalar_sqrt", CoreOp::kFloatRoot},
      {"fp_fma_scalar", CoreOp::kFma},
      {"fp_cvt", CoreOp::kConvert},
      {"fp_mov_scalar", CoreOp::kVectorInteger},
      {"fp_vec_add", CoreOp::kFloatAdd},
      {"fp_vec_mul", CoreOp::kFloatMultiply},
      {"fp_fma_vec", CoreOp::kFma},
      {"fp_vec_other", CoreOp::kFloatAdd},
      {"vec_int_alu", CoreOp::kVectorInteger},
      {"vec_int_mul", CoreOp::kVectorMultiply},
      {"vec_logic", CoreOp::kVectorInteger},
      {"vec_shuffle", CoreOp::kShuffle},
      {"vec_mov", CoreOp::kVectorInteger},
      {"x87_simple", CoreOp::kX87},
      {"x87_mul", CoreOp::kX87},
      {"x87_div", CoreOp::kX87Divide},
      {"x87_transcendental", CoreOp::kTranscendental},
      {"atomic", CoreOp::kAtomic},
      {"fence", CoreOp::kFence},
      {"string", CoreOp::kAlu},
      {"crypto", CoreOp::kCrypto},
      {"prefetch", CoreOp::kNothing},
      {"cache_control", CoreOp::kFence},
      {"rdtsc_like", CoreOp::kCounter},
      {"rng", CoreOp::kRandom},
      {"pause", CoreOp::kPause},
      {"nop", CoreOp::kNothing},
      {"syscall", CoreOp::kCounter},
  };
  if (name == "int_div") return instruction.divide_bytes > 4 ? CoreOp::kDivide64 : CoreOp::kDivide32;
  if (name == "fp_scalar_div" || name == "fp_vec_div") return wide ? CoreOp::kFloatDivide64 : CoreOp::kFloatDivide32;
  const auto found = kOps.find(name);
  return found == kOps.end() ? CoreOp::kAlu : found->second;
}

bool is_move(const std::string& name) { return name == "mov" || name == "vec_mov" || name == "fp_mov_scalar"; }

// Reads registers of one kind alone and writes one of the other.
bool crosses(const TraceInstruction& instruction) {
  constexpr uint8_t kVectors = 32, kFlags = 64;
  const size_t sources = instruction.register_counts[0];
  const size_t results = sources + instruction.register_counts[1];
  if (sources == 0 || instruction.loads > 0) return false;
  const auto any = [&](size_t from, size_t to, bool vector) {
    for (size_t i = from; i < to && i < instruction.registers.size(); ++i) {
      const uint8_t named = instruction.registers[i];
      if (named < kFlags && (named >= kVectors) == vector) return true;
    }
    return false;
  };
  const size_t end = instruction.registers.size();
  // Conversions keep the rest of a vector register, so that they read it too.
  return (any(0, sources, false) && any(results, end, true)) ||
         (any(0, sources, true) && !any(0, sources, false) && any(results, end, false));
}

CoreInstruction decode(const TraceInstruction& instruction, const std::string& name) {
  CoreInstruction decoded;
  decoded.op = op_of(name, instruction);
  decoded.vector_bytes = static_cast<uint8_t>(std::min(255, 8 * instruction.vector_words));
  decoded.loads = instruction.loads;
  decoded.vector_load = decoded.loads > 0 && decoded.vector_bytes > 0;
  if (decoded.op == CoreOp::kTranscendental) decoded.slots = kTranscendentalSlots;
  if (decoded.op == CoreOp::kAtomic) decoded.slots = kAtomicSlots;
  decoded.transfer = crosses(instruction);
  const bool memory = instruction.loads > 0 || instruction.stores > 0;
  if (is_move(name)) {
    decoded.move = !memory && !decoded.transfer;
    if (memory) decoded.op = CoreOp::kNothing;  // the access is all of it
  }
  if (instruction.zero_idiom) decoded.op = CoreOp::kNothing;
  // What has no room is left out: few instructions name so many registers.
  size_t at = 0;
  const auto take = [&](size_t first, size_t count, size_t room) {
    const size_t taken = std::min(count, room);
    for (size_t i = 0; i < taken; ++i) decoded.registers[at++] = instruction.registers[first + i];
    return static_cast<uint8_t>(taken);
  };
  const auto& counts = instruction.register_counts;
  const size_t results = std::min<size_t>(counts[2], 6);
  decoded.sources = instruction.zero_idiom ? uint8_t{0} : take(0, counts[0], 6);
  decoded.addresses = take(counts[0], counts[1], 4);
  decoded.results = take(size_t{counts[0]} + counts[1], results, 6);
  return decoded;
}

// Where accesses of one instruction went last.
struct Stride {
  uint64_t address = 0;
  int64_t step = 0;
  int seen = 0;

  bool is_stream(uint64_t to) {
    const auto now = static_cast<int64_t>(to - address);  // wraps: addresses are anybody's
    seen = now == step ? std::min(seen + 1, kStridesSeen) : 0;
    step = now;
    address = to;
    return seen >= kStridesSeen && step != 0 && step >= -kLongestStrideBytes && step <= kLongestStrideBytes;
  }
};

// Lines of a page that were asked for beyond the first level, one after the other: what prefetchers of the second level
// follow, whichever instructions ask. Also the other half of a pair of lines.
class PageStreams {
 public:
  bool is_stream(uint64_t address) {
    const uint64_t line = address / kLineBytes, page = address / kPageBytes;
    Page& known = pages_[page % pages_.size()];
    if (known.page != page) {
      known = {page, line, 0, 0};
      return false;
    }
    const auto step = static_cast<int64_t>(line - known.line);
    if (step == 0) return known.seen >= kPageStepsSeen;
    const bool onward = step >= -kLongestPageStep && step <= kLongestPageStep && (step > 0) == (known.direction >= 0);
    known.seen = onward ? known.seen + 1 : 0;
    known.direction = step > 0 ? 1 : -1;
    const bool pair = (line ^ 1U) == known.line;
    known.line = line;
    return known.seen >= kPageStepsSeen || pair;
  }

 private:
  static constexpr uint64_t kLineBytes = 64, kPageBytes = 4096;
  static constexpr int64_t kLongestPageStep = 4;
  static constexpr int kPageStepsSeen = 2;
  struct Page {
    uint64_t page = ~uint64_t{0}, line = 0;
    int direction = 0, seen = 0;
  };
  std::array<Page, 64> pages_{};
};

// Accesses of lines that were followed beyond 64 KiB, by what held them.
struct Sample {
  std::map<uint32_t, uint64_t> by_kib;
  uint64_t count = 0;

  void add(uint32_t kib) {
    ++by_kib[kib];
    ++count;
  }
  uint32_t draw(uint64_t address) const {
    if (count == 0) return kWhereNoneWasFollowedKib;
    uint64_t drawn = Random(address / 64).next() % count;
    for (const auto& [kib, times] : by_kib) {
      if (drawn < times) return kib;
      drawn -= times;
    }
    return kWhereNoneWasFollowedKib;
  }
};

// A flag that an operation sets and the branch after it reads: cores take both as one.
bool fuses(const CoreInstruction& operation, const CoreInstruction& branch) {
  constexpr uint8_t kFlags = 64;
  const uint8_t* results = operation.registers + operation.sources + operation.addresses;
  return operation.op == CoreOp::kAlu && branch.op == CoreOp::kBranch && branch.sources == 1 &&
         branch.registers[0] == kFlags &&
         std::find(results, results + operation.results, kFlags) < results + operation.results;
}

class Decoder {
 public:
  explicit Decoder(const ProcessTrace& process) : process_(process) {}
  Result<DecodedProcess> run();

 private:
  void take_blocks();
  bool take_piece(const TracePiece& piece);
  void take_step(const TraceStep& step, DecodedPiece& piece);
  void place_unknown();

  const ProcessTrace& process_;
  DecodedProcess decoded_;
  std::vector<Stride> strides_;  // by instruction
  PageStreams pages_;
  Sample all_;                       // of the process
  std::vector<Sample> sample_;       // of each piece
  std::array<uint64_t, 2> chunk_{};  // of the string instruction that is underway
};

void Decoder::take_blocks() {
  for (const TraceBlock& block : process_.blocks) {
    DecodedBlock to;
    to.address = block.address;
    to.first = static_cast<uint32_t>(decoded_.instructions.size());
    to.count = static_cast<uint32_t>(block.instructions.size());
    for (const TraceInstruction& instruction : block.instructions) {
      to.bytes += instruction.size_bytes;
      decoded_.instructions.push_back(decode(instruction, process_.classes[instruction.op]));
    }
    if (to.count > 1) {
      CoreInstruction* const last = &decoded_.instructions.back();
      if (fuses(last[-1], last[0])) {
        last->op = CoreOp::kNothing;
        last->slots = 0;
      }
    }
    decoded_.blocks.push_back(to);
  }
  strides_.resize(decoded_.instructions.size());
}

void Decoder::take_step(const TraceStep& step, DecodedPiece& piece) {
  const DecodedBlock& block = decoded_.blocks[step.block];
  CoreStep to;
  to.block = step.block;
  to.accesses = static_cast<uint32_t>(piece.accesses.size());
  to.again = step.again;
  to.mispredicted = step.mispredicted;
  const TraceBlock& from = process_.blocks[step.block];
  to.taken = from.branch != TraceBranch::kNone && step.next_address && *step.next_address != from.fall_through;
  for (const TraceAccess& access : step.accesses) {
    // Fast strings move chunks, whatever the size of their elements.
    uint64_t& chunk = chunk_.at(access.store ? 1 : 0);
    if (step.again && chunk == access.address / kStringChunkBytes) continue;
    chunk = access.address / kStringChunkBytes;
    CoreAccess told;
    told.address = access.address;
    told.instruction = access.instruction;
    told.bytes = access.bytes;
    told.store = access.store;
    told.streamed = strides_[block.first + access.instruction].is_stream(access.address);
    const uint32_t entries = trace_tlb_entries(access.found);
    told.tlb_entries = static_cast<uint16_t>(entries);
    const auto held = trace_cache_bytes(access.found);
    told.held_kib = held ? static_cast<uint32_t>(*held >> 10U) : kUnknownKib;
    if (told.held_kib == 0 || told.held_kib > kFirstLevelKib) told.streamed |= pages_.is_stream(access.address);
    if (held && (told.held_kib == 0 || told.held_kib >= kSampledFromKib)) {
      all_.add(told.held_kib);
      sample_.back().add(told.held_kib);
    }
    piece.accesses.push_back(told);
  }
  if (step.again && piece.accesses.size() == to.accesses) return;
  piece.steps.push_back(to);
}

bool Decoder::take_piece(const TracePiece& from) {
  DecodedPiece piece;
  piece.stands_for_count = static_cast<double>(from.stands_for_count);
  piece.instructions_count = from.instructions_count;
  sample_.emplace_back();
  TraceReader reader(process_, from);
  TraceStep step;
  uint64_t instructions = 0;
  while (instructions <= kMostOfAPiece && reader.next(step)) {
    take_step(step, piece);
    instructions += step.again ? step.accesses.size() : decoded_.blocks[step.block].count;
  }
  if (instructions > kMostOfAPiece) return false;
  decoded_.pieces.push_back(std::move(piece));
  return reader.ok();
}

void Decoder::place_unknown() {
  for (size_t i = 0; i < decoded_.pieces.size(); ++i) {
    const Sample& sample = sample_[i].count >= kEnoughOfAPiece ? sample_[i] : all_;
    for (CoreAccess& access : decoded_.pieces[i].accesses) {
      if (access.held_kib == kUnknownKib) access.held_kib = sample.draw(access.address);
    }
  }
}

Result<DecodedProcess> Decoder::run() {
  decoded_.program = process_.program;
  decoded_.instruction_set = process_.instruction_set;
  take_blocks();
  for (const TracePiece& piece : process_.pieces) {
    if (!take_piece(piece)) {
      return Error{"bad-trace", "the events of a piece don't fit its blocks, or are too many", process_.program,
                   "a trace written by perfcast profile --windows"};
    }
  }
  place_unknown();
  return std::move(decoded_);
}

}  // namespace

Result<DecodedProcess> decode_for_cores(const ProcessTrace& process) { return Decoder(process).run(); }

}  // namespace perfcast
