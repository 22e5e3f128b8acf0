#include "profile/trace/trace.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace perfcast {
namespace {

TraceInstruction instruction(uint8_t op, uint8_t size_bytes, std::vector<uint8_t> registers,
                             std::array<uint8_t, 3> counts) {
  TraceInstruction one;
  one.op = op;
  one.size_bytes = size_bytes;
  one.registers = std::move(registers);
  one.register_counts = counts;
  return one;
}

// A loop of a load and a branch at 0x1000, and what follows it, as the plugin would write it.
ProcessTrace small_process() {
  ProcessTrace process;
  process.program = "loop";
  process.instruction_set = "x86_64";
  process.classes = {"mov", "cond_branch", "string"};
  TraceBlock loop;
  loop.address = 0x1000;
  loop.fall_through = 0x1006;
  loop.branch = TraceBranch::kConditional;
  loop.instructions = {instruction(0, 4, {3, 5}, {0, 1, 1}), instruction(1, 2, {64}, {1, 0, 0})};
  loop.instructions[0].loads = 1;
  loop.instructions[0].load_bytes = 8;
  loop.watched = {{0, false, false, 8}};
  TraceBlock after;
  after.address = 0x1006;
  after.fall_through = 0x1008;
  after.instructions = {instruction(2, 2, {}, {0, 0, 0})};
  after.instructions[0].memory_unknown = true;
  after.watched = {{0, false, true, 0}};
  process.blocks = {loop, after};
  TracePiece piece;
  piece.window = true;
  piece.position_count = 7;
  piece.stands_for_count = 1000;
  piece.instructions_count = 5;
  piece.events = std::string(
      "\x00"          // the loop
      "\x03\x80\x02"  // its load, held by 32 KiB, at 0 + 128
      "\x00"          // again
      "\x07\x14\x0f"  // its load, found by the 512 KiB cache and the second TLB, 8 bytes before
      "\x05"          // what follows, the branch having been guessed wrong
      "\x03\x83\x04"  // a store of 8 bytes at 2
      "\x06"          // one more iteration
      "\x03\x03\x02"  // a load of 8 bytes, 1 further on
      ,
      16);
  process.pieces = {piece};
  return process;
}

Trace small_trace() { return {"loop", {"./loop", "3"}, {small_process()}}; }

TEST(Trace, OfThePluginAnotherVersionIsNamed) {
  // "perfcast-trace" behind its length, then the version.
  const auto read = parse_process_trace(std::string("\x0eperfcast-trace\x02\x06x86_64", 23), "p");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "bad-trace");
  EXPECT_EQ(read.error().message, "version 2 of the plugin's traces");
}

TEST(Trace, GoesThroughAPieceStepByStep) {
  const ProcessTrace process = small_process();
  TraceReader reader(process, process.pieces[0]);
  TraceStep step;
  ASSERT_TRUE(reader.next(step));
  EXPECT_EQ(step.block, 0U);
  EXPECT_EQ(step.next_address, 0x1000U);
  EXPECT_FALSE(step.mispredicted);
  ASSERT_EQ(step.accesses.size(), 1U);
  EXPECT_EQ(step.accesses[0].address, 128U);
  EXPECT_EQ(step.accesses[0].bytes, 8);
  EXPECT_EQ(trace_cache_bytes(step.accesses[0].found), 32U << 10);
  EXPECT_EQ(trace_tlb_entries(step.accesses[0].found), 64U);
  ASSERT_TRUE(reader.next(step));
  EXPECT_TRUE(step.mispredicted);
  EXPECT_EQ(step.next_address, 0x1006U);
  EXPECT_EQ(step.accesses[0].address, 120U);
  EXPECT_EQ(trace_cache_bytes(step.accesses[0].found), 512U << 10);
  EXPECT_EQ(trace_tlb_entries(step.accesses[0].found), 1536U);
  ASSERT_TRUE(reader.next(step));
  EXPECT_EQ(step.block, 1U);
  EXPECT_TRUE(step.accesses[0].store);
  EXPECT_EQ(step.accesses[0].bytes, 8);
  EXPECT_EQ(step.accesses[0].address, 2U);
  EXPECT_FALSE(step.again);
  ASSERT_TRUE(reader.next(step));
  EXPECT_TRUE(step.again);
  EXPECT_FALSE(step.accesses[0].store);
  EXPECT_EQ(step.accesses[0].address, 3U);
  EXPECT_FALSE(step.next_address.has_value());
  EXPECT_FALSE(reader.next(step));
  EXPECT_TRUE(reader.ok());
}

TEST(Trace, SaysWhereALineWasFound) {
  EXPECT_EQ(trace_cache_bytes(2), 64U << 10);
  EXPECT_EQ(trace_cache_bytes(3), 256U << 10);
  EXPECT_EQ(trace_cache_bytes(11), 64U << 20);
  EXPECT_EQ(trace_cache_bytes(12), 0U);
  EXPECT_FALSE(trace_cache_bytes(15).has_value());
  EXPECT_EQ(trace_tlb_entries(0x30), 0U);
}

TEST(Trace, ComesBackFromItsFile) {
  const std::string bytes = encode_trace(small_trace());
  const auto trace = decode_trace(bytes, "t");
  ASSERT_TRUE(trace.ok()) << to_text(trace.error());
  EXPECT_EQ(trace->program, "loop");
  EXPECT_EQ(trace->command, (std::vector<std::string>{"./loop", "3"}));
  ASSERT_EQ(trace->processes.size(), 1U);
  EXPECT_EQ(trace->processes[0].program, "loop");
  EXPECT_EQ(trace->processes[0].instructions_count(), 5U);
  EXPECT_EQ(trace->processes[0].blocks[0].fall_through, 0x1006U);
  EXPECT_EQ(trace->processes[0].blocks[0].instructions[0].registers, (std::vector<uint8_t>{3, 5}));
  EXPECT_EQ(encode_trace(*trace), bytes);
}

TEST(Trace, EveryCutAndEveryChangeIsNoticed) {
  const std::string bytes = encode_trace(small_trace());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = decode_trace(std::string_view(bytes).substr(0, size), "t");
    ASSERT_FALSE(cut.ok()) << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    ASSERT_FALSE(decode_trace(changed, "t").ok()) << at;
  }
}

TEST(Trace, AnotherVersionIsNamed) {
  std::string bytes = encode_trace(small_trace());
  bytes[std::string("perfcast.trace\n").size()] = 2;
  const auto trace = decode_trace(bytes, "t.trace");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, "trace-version");
  EXPECT_EQ(trace.error().where, "t.trace");
}

// What a checksum can't know.
TEST(Trace, EventsThatDontFitTheBlocksAreRefused) {
  const auto problem_of = [](const Trace& trace) {
    const auto read = decode_trace(encode_trace(trace), "t");
    return read.ok() ? std::string("none") : read.error().message;
  };
  Trace other_count = small_trace();
  other_count.processes[0].pieces[0].instructions_count = 6;
  EXPECT_EQ(problem_of(other_count), "a piece of another number of instructions than it says");
  Trace no_block = small_trace();
  no_block.processes[0].pieces[0].events[4] = 12;
  EXPECT_EQ(problem_of(no_block), "a piece whose events don't fit the blocks");
  Trace begins_with_access = small_trace();
  begins_with_access.processes[0].pieces[0].events.erase(0, 1);
  EXPECT_EQ(problem_of(begins_with_access), "a piece whose events don't fit the blocks");
  Trace no_class = small_trace();
  no_class.processes[0].blocks[0].instructions[0].op = 3;
  EXPECT_EQ(problem_of(no_class), "an instruction of no class");
  Trace no_register = small_trace();
  no_register.processes[0].blocks[0].instructions[0].registers[0] = 74;
  EXPECT_EQ(problem_of(no_register), "an unknown register");
  Trace no_instruction = small_trace();
  no_instruction.processes[0].blocks[1].watched[0].instruction = 1;
  EXPECT_EQ(problem_of(no_instruction), "an access of no instruction");
}

// Files from before counts were kept have none.
TEST(Trace, KeepsTheCountsOfTheRun) {
  Trace trace = small_trace();
  const std::string without = encode_trace(trace);
  trace.counts = {{"instructions_count", 2e9}, {"miss_32m_random_count", 1e6}};
  const auto read = decode_trace(encode_trace(trace), "t");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->counts, trace.counts);
  EXPECT_EQ(read->processes.size(), trace.processes.size());
  const auto older = decode_trace(without, "t");
  ASSERT_TRUE(older.ok());
  EXPECT_TRUE(older->counts.empty());
  trace.counts["loads_count"] = -1;
  EXPECT_EQ(decode_trace(encode_trace(trace), "t").error().message, "a count that is no number of events");
}

TEST(Trace, AMissingFileIsAnError) { EXPECT_EQ(read_trace("/nonexistent/x.trace").error().code, "file-not-found"); }

}  // namespace
}  // namespace perfcast
