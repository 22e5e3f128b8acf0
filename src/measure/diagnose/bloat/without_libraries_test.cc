#include "measure/diagnose/bloat/without_libraries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "measure/diagnose/bloat/elf_code.h"
#include "measure/diagnose/diagnosis.h"

namespace perfcast::measure {
namespace {

TEST(WithoutLibraries, LeavesOneOut) {
  const auto bytes = read_bytes(PERFCAST_BLOAT_FIXED);
  ASSERT_TRUE(bytes);
  const auto changed = without_libraries(*bytes, {"libperfcast_bloat_idle.so"}, "fixed");
  ASSERT_TRUE(changed) << to_text(changed.error());
  ASSERT_EQ(changed->size(), bytes->size());
  size_t differing = 0;
  for (size_t i = 0; i < bytes->size(); ++i) differing += (*bytes)[i] != (*changed)[i] ? 1 : 0;
  EXPECT_LE(differing, 8U);
  const std::string path = testing::TempDir() + "perfcast-without";
  ASSERT_TRUE(write_file_atomically(path, *changed));
  const auto code = read_elf_code(path, false);
  ASSERT_TRUE(code);
  EXPECT_EQ(std::count(code->needed.begin(), code->needed.end(), "libperfcast_bloat_idle.so"), 0);
  EXPECT_EQ(std::count(code->needed.begin(), code->needed.end(), "libperfcast_bloat_used.so"), 1);
}

TEST(WithoutLibraries, MakesACopyThatRuns) {
  const std::string folder = testing::TempDir();
  const auto copy = copy_without_libraries(PERFCAST_BLOAT_FIXED, {"libperfcast_bloat_idle.so"}, folder);
  ASSERT_TRUE(copy) << to_text(copy.error());
  EXPECT_EQ(*copy, folder + "/perfcast_bloat_fixed");
  EXPECT_EQ(std::system(copy->c_str()), 0);
}

TEST(WithoutLibraries, SaysWhyItCannot) {
  const auto bytes = read_bytes(PERFCAST_BLOAT_FIXED);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(without_libraries(*bytes, {"libz.so.9"}, "x").error().code, "not-asked-for");
  EXPECT_EQ(without_libraries("#!/bin/sh\n", {"libz.so.9"}, "x").error().code, "not-elf");
  const auto moving = read_bytes(PERFCAST_BLOAT_GUINEA);
  ASSERT_TRUE(moving);
  EXPECT_EQ(without_libraries(*moving, {"libperfcast_bloat_idle.so"}, "x").error().code, "moves-with-its-folder");
  // However it is cut, it is an error or a file of the same size.
  for (size_t size = 0; size < bytes->size(); size += 97) {
    const auto cut = without_libraries(bytes->substr(0, size), {"libperfcast_bloat_idle.so"}, "x");
    EXPECT_TRUE(!cut || cut->size() == size);
  }
}

TEST(Experiment, MayBeOfAnotherProgram) {
  Experiment experiment{"without libraries", {{"A", "1"}}, {}, {}};
  experiment.program = "/tmp/copy";
  EXPECT_EQ(experiment.command({"prog", "x", "y"}), (std::vector<std::string>{"env", "A=1", "/tmp/copy", "x", "y"}));
  EXPECT_EQ(experiment.in_words(), "A=1 /tmp/copy");
}

}  // namespace
}  // namespace perfcast::measure
