#include "profile/core/core_report.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

// `pieces` pieces of a thousand instructions; piece i stands for i + 1.
ProcessTrace process_of(size_t pieces) {
  ProcessTrace process;
  process.program = "p";
  for (size_t i = 0; i < pieces; ++i) {
    TracePiece piece;
    piece.instructions_count = 1000;
    piece.stands_for_count = i + 1;
    process.pieces.push_back(piece);
  }
  return process;
}

uint64_t stands_for(const ProcessTrace& process) {
  uint64_t sum = 0;
  for (const TracePiece& piece : process.pieces) sum += piece.stands_for_count;
  return sum;
}

TEST(ThinnedTrace, KeepsWhatPiecesStandFor) {
  Trace trace;
  trace.program = "p";
  trace.processes = {process_of(20), process_of(3), process_of(1)};
  const Trace same = thinned_trace(trace, 24000);
  ASSERT_EQ(same.processes.size(), 3U);
  EXPECT_EQ(same.processes[0].pieces.size(), 20U);
  const Trace thin = thinned_trace(trace, 6000);  // one of four
  ASSERT_EQ(thin.processes.size(), 3U);
  EXPECT_EQ(thin.processes[0].pieces.size(), 5U);
  EXPECT_EQ(thin.processes[1].pieces.size(), 1U);
  EXPECT_EQ(thin.processes[2].pieces.size(), 1U);
  EXPECT_EQ(thin.processes[0].pieces[0].stands_for_count, 1U + 2 + 3 + 4);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(stands_for(thin.processes[i]), stands_for(trace.processes[i]));
}

TEST(ModelledCycles, AreOfTheWholeProgramBySixDigits) {
  CoreReport report;
  report.designs.resize(2);
  report.designs[0].name = "ice-lake";
  report.designs[1].name = "nothing-ran";
  report.results.resize(2);
  report.results[0].instructions_count = 3000;
  report.results[0].cycles = 1000;
  const auto metrics = modelled_cycles(report, 1e9);
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics.at("core_ice_lake_cycles_count"), 333333000);
}

TEST(ModelledBounds, AreSharesToAThousandth) {
  CoreReport report;
  report.designs.resize(2);
  report.designs[0].name = "zen4";
  report.designs[1].name = "nothing-ran";
  report.results.resize(2);
  report.results[0].instructions_count = 3000;
  report.results[0].cycles = 3000;
  report.results[0].cycles_by_bound.at(static_cast<size_t>(CoreBound::kMemory)) = 1000;
  report.results[0].cycles_by_bound.at(static_cast<size_t>(CoreBound::kWidth)) = 1999;
  report.results[0].cycles_by_bound.at(static_cast<size_t>(CoreBound::kTlb)) = 1;
  const std::map<std::string, CoreBoundRatios> expected = {{"zen4", {{"memory", 0.333}, {"width", 0.666}}}};
  EXPECT_EQ(modelled_bounds(report), expected);
}

}  // namespace
}  // namespace perfcast
