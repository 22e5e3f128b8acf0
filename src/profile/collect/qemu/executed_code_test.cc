#include "profile/collect/qemu/executed_code.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

const std::string kBlocksHead = "perfcast-blocks 1\nentry 401000\nmapping 400000 402000 0 /bin/some prog\n";

TEST(ExecutedCode, ReadsMappingsAndBlocks) {
  const auto code = parse_executed_code(kBlocksHead +
                                            "mapping 7f0000000000 7f0000001000 0 \n"
                                            "1 401000 20 1 0 0 0\n1 401020 3 5 4000 2 1\n2 7f0000000010 2 9 0 0 0\n"
                                            "0 500000 7 1 0 1 0\nend 1\n",
                                        "x");
  ASSERT_TRUE(code) << to_text(code.error());
  EXPECT_TRUE(code->has_start);
  ASSERT_EQ(code->mappings.size(), 2U);
  EXPECT_EQ(code->mappings[0].path, "/bin/some prog");
  EXPECT_EQ(code->mappings[0].start, 0x400000U);
  EXPECT_EQ(code->mappings[0].end, 0x402000U);
  EXPECT_EQ(code->mappings[1].path, "");
  ASSERT_EQ(code->blocks.size(), 4U);
  EXPECT_EQ(code->blocks[1].address, 0x401020U);
  EXPECT_EQ(code->blocks[1].bytes, 3U);
  EXPECT_EQ(code->blocks[1].executions_count, 5U);
  EXPECT_EQ(code->blocks[1].iterations_count, 4000U);
  EXPECT_EQ(code->blocks[1].before_count, 2U);
  EXPECT_EQ(code->blocks[1].since_end_count, 1U);
  EXPECT_EQ(mapping_of(code->mappings, 0x401020), &code->mappings[0]);
  EXPECT_EQ(mapping_of(code->mappings, 0x402000), nullptr);
  EXPECT_EQ(mapping_of(code->mappings, 0x3fffff), nullptr);
  EXPECT_EQ(mapping_of(code->mappings, code->blocks[2].address), &code->mappings[1]);
  EXPECT_EQ(mapping_of(code->mappings, code->blocks[3].address), nullptr);
  EXPECT_EQ(code->weight, 1);
}

// A library goes, another takes its place, and a third one's.
TEST(ExecutedCode, TellsMappingsOfOnePlaceApart) {
  const auto code = parse_executed_code(
      "perfcast-blocks 1\nmapping 1000 3000 0 /a.so\nmapping 2000 4000 1000 /b.so\nmapping 1000 4000 0 /c.so\n"
      "1 2010 4 1 0 0 0\n2 2010 4 2 0 0 0\n3 2010 4 3 0 0 0\nend 1\n",
      "x");
  ASSERT_TRUE(code) << to_text(code.error());
  EXPECT_FALSE(code->has_start);
  const std::vector<std::string> expected = {"/a.so", "/b.so", "/c.so"};
  for (size_t i = 0; i < expected.size(); ++i) {
    const ExecutedMapping* const mapping = mapping_of(code->mappings, code->blocks[i].address);
    ASSERT_NE(mapping, nullptr);
    EXPECT_EQ(mapping->path, expected[i]);
    EXPECT_EQ(code->blocks[i].address, 0x2010 + (uint64_t{i} << 52U));
    EXPECT_EQ(code->blocks[i].address - mapping->start + mapping->file_offset_bytes, 0x1010U) << i;
  }
}

class BadExecutedCode : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(BadExecutedCode, IsAnError) {
  const auto [lines, message] = GetParam();
  const auto code = parse_executed_code(kBlocksHead + lines, "blocks");
  ASSERT_FALSE(code) << lines;
  EXPECT_EQ(code.error().code, "bad-executed-code");
  EXPECT_EQ(code.error().message, message);
  EXPECT_TRUE(code.error().where.starts_with("blocks:")) << code.error().where;
}
INSTANTIATE_TEST_SUITE_P(
    Lines, BadExecutedCode,
    testing::Values(
        std::pair{"", "the file is cut off"}, std::pair{"end 1", "the file is cut off"},
        std::pair{"end 2\n", "'end 2'"}, std::pair{"end 1\nend 1\n", "text after the end"},
        std::pair{"entry 5\nend 1\n", "a second entry"},
        std::pair{"1 401000 4 1 0 0\nend 1\n", "'1 401000 4 1 0 0' is neither a block nor a mapping"},
        std::pair{"1 401000 4 1 0 0 0 0\nend 1\n", "'1 401000 4 1 0 0 0 0' is neither a block nor a mapping"},
        std::pair{"1 401000 -4 1 0 0 0\nend 1\n", "'1 401000 -4 1 0 0 0' is neither a block nor a mapping"},
        std::pair{"1 401000 0 1 0 0 0\nend 1\n", "a block of 0 bytes"},
        std::pair{"1 401000 99999 1 0 0 0\nend 1\n", "a block of 99999 bytes"},
        std::pair{"1 401000 4 0 0 0 0\nend 1\n", "a block that did not run"},
        std::pair{"2 401000 4 1 0 0 0\nend 1\n", "a block of mapping 2"},
        std::pair{"1 402000 4 1 0 0 0\nend 1\n", "a block outside of its mapping"},
        std::pair{"0 10000000000000 4 1 0 0 0\nend 1\n", "a block at an address of no process"},
        std::pair{"1 401000 4 2 0 2 1\nend 1\n", "more executions before and after the program than there are"},
        std::pair{"mapping 5000 5000 0 /x\nend 1\n", "no mapping"},
        std::pair{"mapping 5000 6000 /x\nend 1\n", "no mapping"},
        std::pair{"mapping 5000 6000 ffffffffffffffff /x\nend 1\n", "a mapping of no file"},
        std::pair{"1 401000 4 1 0 0 0\nmapping 5000 6000 0 /x\nend 1\n", "a mapping after blocks"}));

TEST(ExecutedCode, KnowsItsVersion) {
  const auto newer = parse_executed_code("perfcast-blocks 2\nend 1\n", "x");
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, "future-version");
  const auto other = parse_executed_code("perfcast-qemu 1\nend 1\n", "x");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "no file of blocks of the QEMU plugin");
}

TEST(ExecutedCode, HasNoStartWithoutAnEntry) {
  const auto code = parse_executed_code("perfcast-blocks 1\nmapping 1000 2000 0 /x\n1 1000 4 2 0 1 0\nend 1\n", "x");
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().where, "x:3");
}

}  // namespace
}  // namespace perfcast
