// Reading and writing of traces. Everything that comes from outside is checked here, so that whoever goes through a
// trace need not.
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/bytes.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "profile/trace/leb128.h"
#include "profile/trace/trace.h"

namespace perfcast {
namespace {

constexpr std::string_view kMagic = "perfcast.trace\n";
constexpr uint32_t kVersion = 1;
constexpr uint64_t kPluginVersion = 1;
constexpr size_t kMostClasses = 250, kMostBlocks = size_t{1} << 24, kMostPieces = 4096, kMostProcesses = 4096;
constexpr size_t kMostInstructions = 1024, kMostRegisters = 20, kMostText = 4096, kMostAccessBytes = 1024;
constexpr uint64_t kMostCounts = 1024;
constexpr size_t kMostRawBytes = size_t{1} << 28, kMostFileBytes = size_t{1} << 28;

Error bad_trace(const std::string& what, const std::string& source) {
  return {"bad-trace", what, source, "a file of perfcast.trace/1, as `perfcast profile --windows FILE` writes it"};
}

// Of the plugin's record of a process. Stops at the first thing that does not fit.
class Parser {
 public:
  explicit Parser(std::string_view bytes) : left_(bytes) {}

  bool parse(ProcessTrace& trace) {
    return head(trace) && blocks(trace) && pieces(trace) && (left_.empty() || fail("bytes behind the last piece"));
  }
  const std::string& problem() const { return problem_; }

 private:
  bool fail(const std::string& what) {
    if (problem_.empty()) problem_ = what;
    return false;
  }
  bool byte(uint8_t& value) {
    if (left_.empty()) return fail("cut off");
    value = static_cast<uint8_t>(left_.front());
    left_.remove_prefix(1);
    return true;
  }
  bool number(uint64_t& value, uint64_t most, const char* what) {
    if (!take_number(left_, value)) return fail(left_.empty() ? "cut off" : std::string(what) + " is no number");
    return value <= most || fail(std::string(what) + " is too large");
  }
  bool text(std::string& value) {
    uint64_t size = 0;
    if (!number(size, kMostText, "a text's length")) return false;
    if (size > left_.size()) return fail("cut off");
    value = left_.substr(0, size);
    left_.remove_prefix(size);
    return true;
  }

  bool head(ProcessTrace& trace) {
    std::string magic;
    uint64_t version = 0, classes = 0;
    if (!text(magic) || magic != "perfcast-trace") return fail("no trace of the plugin");
    if (!number(version, std::numeric_limits<uint64_t>::max(), "the version")) return false;
    if (version != kPluginVersion) return fail("version " + std::to_string(version) + " of the plugin's traces");
    if (!text(trace.instruction_set)) return false;
    if (trace.instruction_set != "x86_64" && trace.instruction_set != "aarch64") return fail("an unknown architecture");
    if (!number(classes, kMostClasses, "the number of classes")) return false;
    trace.classes.resize(classes);
    return std::all_of(trace.classes.begin(), trace.classes.end(), [&](std::string& name) { return text(name); });
  }

  bool registers(TraceInstruction& instruction) {
    for (uint8_t& count : instruction.register_counts) {
      if (!byte(count)) return false;
      if (count > kMostRegisters) return fail("an instruction of too many registers");
      for (uint8_t i = 0; i < count; ++i) {
        uint8_t name = 0;
        if (!byte(name)) return false;
        if (name >= kTraceRegisters) return fail("an unknown register");
        instruction.registers.push_back(name);
      }
    }
    return true;
  }

  bool instruction(const ProcessTrace& trace, TraceInstruction& instruction) {
    uint8_t flags = 0, sizes = 0;
    if (!byte(instruction.op) || !byte(instruction.size_bytes) || !byte(flags) || !byte(instruction.vector_words) ||
        !byte(sizes)) {
      return false;
    }
    if (instruction.op >= trace.classes.size()) return fail("an instruction of no class");
    instruction.vector_float = (flags & 1U) != 0;
    instruction.memory_unknown = (flags & 2U) != 0;
    instruction.zero_idiom = (flags & 4U) != 0;
    instruction.repeated = (flags & 8U) != 0;
    instruction.undecoded = (flags & 16U) != 0;
    instruction.wide_multiply = (flags & 32U) != 0;
    instruction.float_bytes = sizes & 15U;
    instruction.divide_bytes = sizes >> 4U;
    uint64_t size = 0;
    if (!byte(instruction.loads)) return false;
    if (instruction.loads > 0 && !number(size, kMostAccessBytes, "a load")) return false;
    instruction.load_bytes = static_cast<uint16_t>(size);
    size = 0;
    if (!byte(instruction.stores)) return false;
    if (instruction.stores > 0 && !number(size, kMostAccessBytes, "a store")) return false;
    instruction.store_bytes = static_cast<uint16_t>(size);
    return registers(instruction);
  }

  bool watched(TraceBlock& block) {
    enum : uint8_t { kLoad, kStore, kWideLoad, kWideStore, kUnknown };
    uint64_t count = 0;
    if (!number(count, kMostInstructions, "the number of accesses of a block")) return false;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t place = 0;
      uint8_t kind = 0, last = 0;
      if (!number(place, kMostInstructions, "an access' instruction") || !byte(kind) || !byte(last)) return false;
      if (kind > kUnknown || last > 63) return fail("an access of no kind");
      block.watched.push_back({static_cast<uint16_t>(place), kind == kStore || kind == kWideStore, kind == kUnknown,
                               static_cast<uint8_t>(kind == kUnknown ? 0 : last + 1)});
    }
    return true;
  }

  bool block(const ProcessTrace& trace, TraceBlock& block) {
    uint8_t branch = 0;
    uint64_t count = 0;
    if (!number(block.address, std::numeric_limits<uint64_t>::max(), "an address") || !byte(branch)) return false;
    if (branch > static_cast<uint8_t>(TraceBranch::kReturn)) return fail("a branch of no kind");
    block.branch = static_cast<TraceBranch>(branch);
    if (!watched(block) || !number(count, kMostInstructions, "the number of instructions of a block")) return false;
    if (count == 0) return fail("a block without instructions");
    block.fall_through = block.address;
    for (uint64_t i = 0; i < count; ++i) {
      if (!instruction(trace, block.instructions.emplace_back())) return false;
      block.fall_through += block.instructions.back().size_bytes;
    }
    return std::all_of(block.watched.begin(), block.watched.end(),
                       [&](const TraceWatched& one) { return one.instruction < count; }) ||
           fail("an access of no instruction");
  }

  bool blocks(ProcessTrace& trace) {
    uint64_t count = 0;
    if (!number(count, kMostBlocks, "the number of blocks")) return false;
    if (count > left_.size()) return fail("cut off");  // before memory is taken for them
    trace.blocks.resize(count);
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t index = 0;
      if (!number(index, count - 1, "the number of a block")) return false;
      if (!trace.blocks[index].instructions.empty()) return fail("a block twice");
      if (!block(trace, trace.blocks[index])) return false;
    }
    return true;
  }

  bool pieces(ProcessTrace& trace) {
    constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
    uint64_t count = 0, size = 0;
    if (!number(count, kMostPieces, "the number of pieces")) return false;
    for (uint64_t i = 0; i < count; ++i) {
      TracePiece& piece = trace.pieces.emplace_back();
      uint8_t window = 0;
      if (!byte(window) || !number(piece.position_count, kAny, "a position") ||
          !number(piece.stands_for_count, kAny, "a count") || !number(piece.instructions_count, kAny, "a count") ||
          !number(size, left_.size(), "a piece")) {
        return false;
      }
      if (size > left_.size()) return fail("cut off");
      piece.window = window != 0;
      piece.events = left_.substr(0, size);
      left_.remove_prefix(size);
      if (!events(trace, piece)) return false;
    }
    return true;
  }

  bool events(const ProcessTrace& trace, const TracePiece& piece) {
    TraceReader reader(trace, piece);
    TraceStep step;
    uint64_t instructions = 0;
    while (reader.next(step)) instructions += step.again ? 0 : trace.blocks[step.block].instructions.size();
    if (!reader.ok()) return fail("a piece whose events don't fit the blocks");
    if (instructions != piece.instructions_count) return fail("a piece of another number of instructions than it says");
    return true;
  }

  std::string_view left_;
  std::string problem_;
};

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

void put_instruction(std::string& out, const TraceInstruction& i) {
  const auto put = [&](unsigned value) { out += static_cast<char>(value); };
  put(i.op);
  put(i.size_bytes);
  put(static_cast<unsigned>(i.vector_float) | static_cast<unsigned>(i.memory_unknown) << 1U |
      static_cast<unsigned>(i.zero_idiom) << 2U | static_cast<unsigned>(i.repeated) << 3U |
      static_cast<unsigned>(i.undecoded) << 4U | static_cast<unsigned>(i.wide_multiply) << 5U);
  put(i.vector_words);
  put(i.float_bytes | static_cast<unsigned>(i.divide_bytes) << 4U);
  put(i.loads);
  if (i.loads > 0) put_number(out, i.load_bytes);
  put(i.stores);
  if (i.stores > 0) put_number(out, i.store_bytes);
  size_t at = 0;
  for (const uint8_t count : i.register_counts) {
    put(count);
    for (uint8_t k = 0; k < count; ++k) put(i.registers[at++]);
  }
}

// As the plugin writes it.
std::string process_bytes(const ProcessTrace& trace) {
  std::string out;
  put_text(out, "perfcast-trace");
  put_number(out, kPluginVersion);
  put_text(out, trace.instruction_set);
  put_number(out, trace.classes.size());
  for (const std::string& name : trace.classes) put_text(out, name);
  put_number(out, trace.blocks.size());
  for (size_t index = 0; index < trace.blocks.size(); ++index) {
    const TraceBlock& block = trace.blocks[index];
    put_number(out, index);
    put_number(out, block.address);
    out += static_cast<char>(block.branch);
    put_number(out, block.watched.size());
    for (const TraceWatched& one : block.watched) {
      put_number(out, one.instruction);
      const unsigned kind = one.each_told ? 4 : static_cast<unsigned>(one.store) + (one.bytes > 8 ? 2 : 0);
      out += static_cast<char>(kind);
      out += static_cast<char>(one.each_told ? 0 : one.bytes - 1);
    }
    put_number(out, block.instructions.size());
    for (const TraceInstruction& one : block.instructions) put_instruction(out, one);
  }
  put_number(out, trace.pieces.size());
  for (const TracePiece& piece : trace.pieces) {
    out += static_cast<char>(piece.window);
    put_number(out, piece.position_count);
    put_number(out, piece.stands_for_count);
    put_number(out, piece.instructions_count);
    put_text(out, piece.events);
  }
  return out;
}

std::string compressed(const std::string& raw) {
  uLongf size = compressBound(raw.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(raw.data()), raw.size(),
            Z_BEST_SPEED);
  out.resize(size);
  return out;
}

}  // namespace

Result<ProcessTrace> parse_process_trace(std::string_view bytes, const std::string& source) {
  ProcessTrace trace;
  Parser parser(bytes);
  if (!parser.parse(trace)) return bad_trace(parser.problem(), source);
  return trace;
}

std::string encode_trace(const Trace& trace) {
  ByteWriter out(kMagic);
  out.put(kVersion);
  out.put_text(trace.program);
  out.put(static_cast<uint64_t>(trace.command.size()));
  for (const std::string& argument : trace.command) out.put_text(argument);
  out.put(static_cast<uint64_t>(trace.processes.size()));
  for (const ProcessTrace& process : trace.processes) {
    const std::string raw = process_bytes(process);
    out.put_text(process.program);
    out.put(static_cast<uint64_t>(raw.size()));
    out.put_text(compressed(raw));
  }
  if (trace.counts.empty()) return std::move(out).finish();
  out.put(static_cast<uint64_t>(trace.counts.size()));
  for (const auto& [metric, count] : trace.counts) {
    out.put_text(metric);
    out.put(count);
  }
  return std::move(out).finish();
}

Result<Trace> decode_trace(std::string_view bytes, const std::string& source) {
  const ByteFrame frame = open_frame(bytes, kMagic, kVersion);
  if (frame.state == ByteFrame::State::kOtherVersion) {
    return Error{"trace-version", "a trace of version " + std::to_string(frame.version), source,
                 "version 1, written anew by `perfcast profile --windows FILE`"};
  }
  if (frame.state == ByteFrame::State::kOtherMagic) return bad_trace("no trace", source);
  if (frame.state == ByteFrame::State::kCorrupt) return bad_trace("cut off or changed: its checksum is wrong", source);
  ByteReader reader(frame.body);
  Trace trace;
  uint64_t arguments = 0, processes = 0;
  if (!reader.get_text(trace.program) || !reader.get(arguments) || arguments > reader.left()) {
    return bad_trace("cut off", source);
  }
  trace.command.resize(arguments);
  for (std::string& argument : trace.command) {
    if (!reader.get_text(argument)) return bad_trace("cut off", source);
  }
  if (!reader.get(processes) || processes > kMostProcesses) return bad_trace("too many processes", source);
  size_t left = kMostRawBytes;  // a few bytes unpack to a thousand times as many
  for (uint64_t i = 0; i < processes; ++i) {
    std::string program, packed;
    uint64_t size = 0;
    if (!reader.get_text(program) || !reader.get(size) || !reader.get_text(packed)) {
      return bad_trace("a process that is cut off", source);
    }
    if (size > left) return bad_trace("more than 256 MiB when unpacked", source);
    left -= size;
    std::string raw(size, '\0');
    uLongf unpacked = size;
    if (uncompress(reinterpret_cast<Bytef*>(raw.data()), &unpacked, reinterpret_cast<const Bytef*>(packed.data()),
                   packed.size()) != Z_OK ||
        unpacked != size) {
      return bad_trace("a process that can't be unpacked", source);
    }
    auto process = parse_process_trace(raw, source + ", process " + std::to_string(i + 1));
    if (!process) return process.error();
    process->program = std::move(program);
    trace.processes.push_back(std::move(*process));
  }
  if (reader.at_end()) return trace;
  uint64_t counts = 0;
  if (!reader.get(counts) || counts > kMostCounts) return bad_trace("bytes behind the last process", source);
  for (uint64_t i = 0; i < counts; ++i) {
    std::string metric;
    double count = 0;
    if (!reader.get_text(metric) || !reader.get(count)) return bad_trace("counts that are cut off", source);
    if (!std::isfinite(count) || count < 0) return bad_trace("a count that is no number of events", source);
    trace.counts[metric] = count;
  }
  if (!reader.at_end()) return bad_trace("bytes behind the counts", source);
  return trace;
}

Status write_trace(const Trace& trace, const std::string& path) {
  return write_file_atomically(path, encode_trace(trace));
}

Result<Trace> read_trace(const std::string& path) {
  const auto bytes = read_file(path, kMostFileBytes);
  if (!bytes) return bytes.error();
  return decode_trace(*bytes, path);
}

}  // namespace perfcast
