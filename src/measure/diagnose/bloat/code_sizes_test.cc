#include "measure/diagnose/bloat/code_sizes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace perfcast::measure {
namespace {

TEST(CodeSizes, AreThoseOfAProgramAndItsLibraries) {
  const auto sizes = sizes_of(PERFCAST_BLOAT_GUINEA);
  ASSERT_TRUE(sizes) << to_text(sizes.error());
  EXPECT_EQ(sizes->program.file_bytes, std::filesystem::file_size(PERFCAST_BLOAT_GUINEA));
  EXPECT_EQ(sizes->program.mapped_bytes % 4096, 0U);
  EXPECT_GT(sizes->program.code_bytes, 100U);
  EXPECT_LE(sizes->program.code_bytes, sizes->program.mapped_bytes);
  std::set<std::string> names;
  uint64_t mapped = sizes->program.mapped_bytes;
  for (const FileSizes& library : sizes->libraries) {
    names.insert(std::filesystem::path(library.path).filename().string());
    mapped += library.mapped_bytes;
  }
  EXPECT_EQ(names.size(), 5U);  // three of ours, the C library, the dynamic linker
  EXPECT_EQ(names.count("libperfcast_bloat_idle.so"), 1U);
  EXPECT_EQ(sizes->total().mapped_bytes, mapped);
}

TEST(CodeSizes, OfALibraryAloneAreItsOwn) {
  const auto sizes = sizes_of(PERFCAST_BLOAT_USED);
  ASSERT_TRUE(sizes) << to_text(sizes.error());
  EXPECT_TRUE(sizes->libraries.empty());
  EXPECT_EQ(sizes->total().code_bytes, sizes->program.code_bytes);
}

TEST(CodeSizes, SayWhatIsNoProgram) {
  EXPECT_EQ(sizes_of("/nonexistent").error().code, "file-not-found");
  EXPECT_EQ(sizes_of(PERFCAST_SOURCE_DIR "/README.md").error().code, "not-elf");
}

TEST(CodeSizes, ReadTheLinkersList) {
  const auto list = listed_libraries(
      "\tlinux-vdso.so.1 (0x00007ffc1)\n\tlibm.so.6 => /lib/my libs/libm.so.6 (0x00007f1)\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f2)\n");
  ASSERT_TRUE(list);
  EXPECT_EQ(*list, (std::vector<std::string>{"/lib/my libs/libm.so.6", "/lib64/ld-linux-x86-64.so.2"}));
  const auto missing = listed_libraries("\tlibx.so.3 => not found\n");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "the library libx.so.3 is not found");
}

TEST(CodeSizes, NameWaysToBuild) {
  const auto rebuilds = bloat_rebuilds();
  ASSERT_GE(rebuilds.size(), 5U);
  std::set<std::string> flags;
  for (const BloatRebuild& rebuild : rebuilds) flags.insert(rebuild.flags);
  EXPECT_EQ(flags.size(), rebuilds.size());
  EXPECT_EQ(rebuilds.front().flags, "-O2");
}

}  // namespace
}  // namespace perfcast::measure
