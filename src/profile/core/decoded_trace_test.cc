#include "profile/core/decoded_trace.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

TraceInstruction instruction(uint8_t op, std::vector<uint8_t> registers, std::array<uint8_t, 3> counts) {
  TraceInstruction one;
  one.op = op;
  one.size_bytes = 4;
  one.registers = std::move(registers);
  one.register_counts = counts;
  return one;
}

// A loop of a load, a division and a branch; then a repeated string store.
ProcessTrace small_process() {
  ProcessTrace process;
  process.program = "loop";
  process.instruction_set = "x86_64";
  process.classes = {"mov", "int_div", "cond_branch", "string"};
  TraceBlock loop;
  loop.address = 0x1000;
  loop.fall_through = 0x100c;
  loop.branch = TraceBranch::kConditional;
  loop.instructions = {instruction(0, {3, 5}, {0, 1, 1}), instruction(1, {5, 2, 2}, {2, 0, 1}),
                       instruction(2, {64}, {1, 0, 0})};
  loop.instructions[0].loads = 1;
  loop.instructions[0].load_bytes = 8;
  loop.instructions[1].divide_bytes = 8;
  loop.watched = {{0, false, false, 8}};
  TraceBlock after;
  after.address = 0x100c;
  after.fall_through = 0x1010;
  after.instructions = {instruction(3, {}, {0, 0, 0})};
  after.instructions[0].memory_unknown = true;
  after.watched = {{0, false, true, 0}};
  process.blocks = {loop, after};
  TracePiece piece;
  piece.stands_for_count = 1000;
  piece.instructions_count = 7;
  piece.events = std::string(
      "\x00\x03\x80\x02"  // the loop; its load, held by 32 KiB, at 0 + 128
      "\x00\x07\x14\x0f"  // again; its load, held by 512 KiB and the second TLB, 8 bytes before
      "\x05"              // what follows, the branch having been guessed wrong
      "\x03\x83\x04"      // a store of 8 bytes at 2
      "\x06"              // one more iteration
      "\x03\x03\x02"      // a load of 8 bytes, 1 further on
      ,
      16);
  process.pieces = {piece};
  return process;
}

TEST(DecodedTrace, InstructionsSayWhatTheyAskFor) {
  const auto decoded = decode_for_cores(small_process());
  ASSERT_TRUE(decoded) << decoded.error().message;
  ASSERT_EQ(decoded->instructions.size(), 4U);
  const CoreInstruction& load = decoded->instructions[0];
  EXPECT_EQ(load.op, CoreOp::kNothing);
  EXPECT_EQ(load.loads, 1);
  EXPECT_EQ(load.addresses, 1);
  EXPECT_EQ(load.registers[0], 3);
  EXPECT_EQ(load.registers[1], 5);
  EXPECT_FALSE(load.move);
  const CoreInstruction& division = decoded->instructions[1];
  EXPECT_EQ(division.op, CoreOp::kDivide64);
  EXPECT_EQ(division.sources, 2);
  EXPECT_EQ(division.results, 1);
  EXPECT_EQ(decoded->instructions[2].op, CoreOp::kBranch);
  EXPECT_EQ(decoded->blocks[0].bytes, 12U);
  EXPECT_EQ(decoded->blocks[1].first, 3U);
}

TEST(DecodedTrace, StepsSayWhereAccessesWereFound) {
  const auto decoded = decode_for_cores(small_process());
  ASSERT_TRUE(decoded);
  const DecodedPiece& piece = decoded->pieces.at(0);
  EXPECT_EQ(piece.stands_for_count, 1000);
  ASSERT_GE(piece.steps.size(), 3U);
  EXPECT_TRUE(piece.steps[0].taken);
  EXPECT_FALSE(piece.steps[1].taken);
  EXPECT_TRUE(piece.steps[1].mispredicted);
  EXPECT_EQ(piece.accesses[0].address, 128U);
  EXPECT_EQ(piece.accesses[0].held_kib, 32U);
  EXPECT_EQ(piece.accesses[0].tlb_entries, 64);
  EXPECT_EQ(piece.accesses[1].address, 120U);
  EXPECT_EQ(piece.accesses[1].held_kib, 512U);
  EXPECT_EQ(piece.accesses[1].tlb_entries, 1536);
  EXPECT_TRUE(piece.accesses[2].store);
  // Another element of a chunk that is underway is none of its own; a load, of which none was before, is.
  EXPECT_TRUE(piece.steps.back().again);
  EXPECT_EQ(piece.accesses.size(), 4U);
}

TEST(DecodedTrace, EqualStridesAreAStream) {
  ProcessTrace process = small_process();
  TracePiece& piece = process.pieces[0];
  piece.events.clear();
  // The loop's load, 64 bytes further each time.
  for (int i = 0; i < 6; ++i) piece.events += std::string("\x00\x03\x80\x01", 4);
  piece.instructions_count = 18;
  const auto decoded = decode_for_cores(process);
  ASSERT_TRUE(decoded) << decoded.error().message;
  ASSERT_EQ(decoded->pieces[0].accesses.size(), 6U);
  EXPECT_FALSE(decoded->pieces[0].accesses[1].streamed);
  EXPECT_TRUE(decoded->pieces[0].accesses[5].streamed);
}

TEST(DecodedTrace, LinesOfAPageInOneDirectionAreAStream) {
  ProcessTrace process = small_process();
  TracePiece& piece = process.pieces[0];
  piece.events.clear();
  // Held by 512 KiB; 64, 192, 64, 128, 64, 192 bytes further: no equal strides.
  for (const char step : {1, 3, 1, 2, 1, 3}) piece.events += std::string("\x00\x07\x14\x80", 4) + step;
  piece.instructions_count = 18;
  const auto ahead = decode_for_cores(process);
  ASSERT_TRUE(ahead) << ahead.error().message;
  ASSERT_EQ(ahead->pieces[0].accesses.size(), 6U);
  EXPECT_FALSE(ahead->pieces[0].accesses[0].streamed);
  EXPECT_TRUE(ahead->pieces[0].accesses[5].streamed);
  // To and fro by more than a pair of lines: 192 forth, 128 back.
  piece.events.clear();
  for (int i = 0; i < 3; ++i) piece.events += std::string("\x00\x07\x14\x80\x03\x00\x07\x14\xff\x01", 10);
  const auto hither = decode_for_cores(process);
  ASSERT_TRUE(hither) << hither.error().message;
  for (const CoreAccess& access : hither->pieces[0].accesses) EXPECT_FALSE(access.streamed) << access.address;
}

TEST(DecodedTrace, RefusesEventsThatDontFit) {
  ProcessTrace process = small_process();
  process.pieces[0].events = "\xff\xff\x7f";  // no such block
  const auto decoded = decode_for_cores(process);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, "bad-trace");
}

}  // namespace
}  // namespace perfcast
