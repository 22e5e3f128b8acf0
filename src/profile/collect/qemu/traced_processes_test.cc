#include "profile/collect/qemu/traced_processes.h"

#include <gmock/gmock.h>

namespace perfcast {
namespace {

using testing::ElementsAre;

TracedProcess process_of(const std::string& program, double instructions_count,
                         const std::vector<uint64_t>& stand_for) {
  TracedProcess process;
  process.trace.program = program;
  process.instructions_count = instructions_count;
  for (const uint64_t count : stand_for) {
    TracePiece& piece = process.trace.pieces.emplace_back();
    piece.stands_for_count = count;
    piece.events.assign(100, 'e');
  }
  return process;
}

std::vector<uint64_t> stand_for(const ProcessTrace& trace) {
  std::vector<uint64_t> found;
  for (const TracePiece& piece : trace.pieces) found.push_back(piece.stands_for_count);
  return found;
}

TEST(TracedProcesses, PiecesAddUpToWhatTheProcessRan) {
  // A short one's interval is longer than all of it; a long one's windows ended before it did.
  const auto kept = kept_processes({process_of("true", 106, {200}), process_of("sort", 28000, {2000, 6000, 2000})},
                                   {{"true", 106}, {"sort", 28000}}, 32, 1 << 20);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_THAT(stand_for(kept[0]), ElementsAre(5600, 16800, 5600));
  EXPECT_THAT(stand_for(kept[1]), ElementsAre(106));
}

TEST(TracedProcesses, ThoseKeptStandForTheOthersOfTheirProgram) {
  const auto kept =
      kept_processes({process_of("cc1", 300, {10}), process_of("cc1", 500, {10, 10}), process_of("cc1", 100, {10}),
                      process_of("as", 400, {10}), process_of("sh", 50, {})},
                     {{"cc1", 1600}, {"as", 400}, {"sh", 50}}, 3, 1 << 20);
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].program, "cc1");
  EXPECT_THAT(stand_for(kept[0]), ElementsAre(500, 500));  // 1600 of 800 that are kept
  EXPECT_THAT(stand_for(kept[1]), ElementsAre(400));       // as
  EXPECT_THAT(stand_for(kept[2]), ElementsAre(600));
}

TEST(TracedProcesses, StayWithinTheBytes) {
  const auto kept =
      kept_processes({process_of("a", 300, {1}), process_of("b", 200, {1, 1}), process_of("c", 100, {1})}, {}, 32, 350);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_THAT(stand_for(kept[0]), ElementsAre(300));
  EXPECT_TRUE(kept_processes({}, {}, 32, 350).empty());
}

TEST(TracedProcesses, PiecesThatSayNothingShareAlike) {
  const auto kept = kept_processes({process_of("a", 300, {0, 0})}, {}, 32, 1 << 20);
  EXPECT_THAT(stand_for(kept[0]), ElementsAre(150, 150));
}

}  // namespace
}  // namespace perfcast
