#include "measure/diagnose/bloat/loader_start.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace perfcast::measure {
namespace {

constexpr const char* kReport =
    "     77:\t\n"
    "     77:\truntime linker statistics:\n"
    "     77:\t  total startup time in dynamic loader: 1200000 cycles\n"
    "     77:\t\t    time needed for relocation: 300000 cycles (25.0%)\n"
    "     77:\t                 number of relocations: 95\n"
    "     77:\t      number of relocations from cache: 3\n"
    "     77:\t        number of relative relocations: 1318\n"
    "     77:\t\t   time needed to load objects: 600000 cycles (50.0%)\n"
    "     77:\t\n"
    "     77:\truntime linker statistics:\n"
    "     77:\t           final number of relocations: 130\n"
    "     77:\tfinal number of relocations from cache: 3\n";

TEST(LoaderStart, ReadsAReport) {
  const LoaderStart start = parse_loader_report(kReport, 2e9);
  EXPECT_EQ(start.starts_count, 1);
  EXPECT_DOUBLE_EQ(start.start_s, 6e-4);
  EXPECT_DOUBLE_EQ(start.relocation_s, 1.5e-4);
  EXPECT_DOUBLE_EQ(start.load_s, 3e-4);
  EXPECT_EQ(start.by_name_count, 95);
  EXPECT_EQ(start.relative_count, 1318);
  EXPECT_EQ(start.at_end_count, 130);
}

// One program became another: both are in the file of their process.
TEST(LoaderStart, AddsStartsUp) {
  const LoaderStart start = parse_loader_report(std::string(kReport) + kReport + "garbage: -5 cycles\n", 2e9);
  EXPECT_EQ(start.starts_count, 2);
  EXPECT_DOUBLE_EQ(start.start_s, 1.2e-3);
  EXPECT_EQ(start.by_name_count, 190);
}

TEST(LoaderStart, LeavesOutWhatIsNoNumber) {
  const LoaderStart start = parse_loader_report(
      "1:\t  total startup time in dynamic loader: many cycles\n1:\t number of relocations: 99999999999999999999\n",
      1e9);
  EXPECT_EQ(start.starts_count, 0);
  EXPECT_EQ(start.by_name_count, 0);
}

TEST(LoaderStart, ReadsTheReportsOfARun) {
  const std::string folder = testing::TempDir();
  ASSERT_TRUE(write_file_atomically(folder + "perfcast-loader.1", kReport));
  ASSERT_TRUE(write_file_atomically(folder + "perfcast-loader.2", kReport));
  const LoaderStart start = read_loader_reports(folder, "perfcast-loader.");
  EXPECT_EQ(start.starts_count, 2);
  EXPECT_EQ(start.relative_count, 2636);
  // Of any processor's counter: 10 MHz to 10 GHz.
  EXPECT_GT(start.start_s, 2.4e-4);
  EXPECT_LT(start.start_s, 0.24);
}

}  // namespace
}  // namespace perfcast::measure
