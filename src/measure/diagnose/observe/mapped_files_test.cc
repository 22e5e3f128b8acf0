#include "measure/diagnose/observe/mapped_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace perfcast::measure {
namespace {

TEST(MappedFiles, ReadsWhatMayBeExecuted) {
  const CodeMappings mappings = executable_mappings(
      "55d8c4a00000-55d8c4a02000 r--p 00000000 fe:01 131 /usr/bin/some prog\n"
      "55d8c4a02000-55d8c4a07000 r-xp 00002000 fe:01 131                        /usr/bin/some prog\n"
      "7ffd1a5f0000-7ffd1a5f2000 r-xp 00000000 00:00 0                          [vdso]\n"
      "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
      "7f0000002000-7f0000002000 r-xp 00000000 fe:01 131 /empty\n"
      "nonsense\n"
      "7f0000003000-7f0000004000 r-xp 00001000 fe:01 7 /lib/x.so");
  ASSERT_EQ(mappings.size(), 2U);
  EXPECT_EQ(mappings[0].path, "/usr/bin/some prog");
  EXPECT_EQ(mappings[0].start, 0x55d8c4a02000U);
  EXPECT_EQ(mappings[0].end, 0x55d8c4a07000U);
  EXPECT_EQ(mappings[0].file_offset_bytes, 0x2000U);
  EXPECT_EQ(mappings[1].path, "/lib/x.so");
}

TEST(MappedFiles, CountsEachPageOnce) {
  MappedFiles files;
  add_mapping(files, {0x1000, 0x3000, 0x1000, "/a"});
  add_mapping(files, {0x91000, 0x93000, 0x1000, "/a"});  // of another process
  add_mapping(files, {0x5000, 0x6000, 0x8000, "/a"});
  add_mapping(files, {0x7000, 0x8000, 0x5000, "/a"});
  EXPECT_EQ(files["/a"].size(), 3U);
  EXPECT_EQ(mapped_bytes(files["/a"]), 0x4000U);
  add_mapping(files, {0, 0x3000, 0x5000, "/a"});  // joins the last two
  ASSERT_EQ(files["/a"].size(), 2U);
  EXPECT_EQ(files["/a"][1].offset, 0x5000U);
  EXPECT_EQ(files["/a"][1].bytes, 0x4000U);
  add_mapping(files, {0x1000, 0x2000, 0, "//anon"});
  add_mapping(files, {0x1000, 0x2000, 0, "[vdso]"});
  EXPECT_EQ(files.size(), 1U);
  add_mapping(files, {0, 0x1000, 0x3000, "/a"});
  EXPECT_EQ(mapped_bytes(files["/a"]), 0x7000U);
}

TEST(MappedFiles, WatchesProcesses) {
  MappingWatch watch;
  watch.look(0, {getpid()});
  bool has_libc = false;
  for (const auto& [path, pieces] : watch.files()) has_libc = has_libc || path.find("libc.so") != std::string::npos;
  EXPECT_TRUE(has_libc);
}

}  // namespace
}  // namespace perfcast::measure
