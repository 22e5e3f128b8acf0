#include "profile/collect/qemu/wider_code.h"

#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>

#include "base/file.h"
#include "base/process/temp_folder.h"

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

std::string repeated(const std::string& bytes, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += bytes;
  return result;
}

// Behind the last instruction something has to follow.
WiderInstructions of(const std::string& code) { return wider_instructions(code + std::string(64, '\x90')); }

// As GNU as writes them.
const std::string kEvex512("\x62\xf1\x74\x48\x58\xc2", 6);                           // vaddps %zmm2,%zmm1,%zmm0
const std::string kEvex512Load("\x62\xf1\x7c\x48\x10\x84\x24\x00\x01\x00\x00", 11);  // vmovups 0x100(%rsp),%zmm0
const std::string kEvex512Immediate("\x62\xf1\x74\x48\xc6\xc2\x44", 7);              // vshufps $0x44,%zmm2,%zmm1,%zmm0
const std::string kEvex256("\x62\xb1\x74\x28\x58\xc1", 6);                           // vaddps %ymm17,%ymm1,%ymm0
const std::string kVex256("\xc5\xf4\x58\xc2", 4);                                    // vaddps %ymm2,%ymm1,%ymm0
const std::string kVnni512("\x62\xf2\x75\x48\x50\xc2", 6);                           // vpdpbusd %zmm2,%zmm1,%zmm0
const std::string kVnniVex("\xc4\xe2\x75\x50\xc2", 5);                               // {vex} vpdpbusd %ymm2,%ymm1,%ymm0
const std::string kTileLoad("\xc4\xe2\x7b\x4b\x0c\x03", 6);                          // tileloadd (%rbx,%rax),%tmm1
const std::string kTileProduct("\xc4\xe2\x6b\x5e\xc1", 5);                           // tdpbssd %tmm2,%tmm1,%tmm0

TEST(WiderInstructions, CountsPairs) {
  EXPECT_EQ(of(repeated(kEvex512, 10)), (WiderInstructions{9, 0, 0}));
  EXPECT_EQ(of(repeated(kEvex512 + kEvex512Load + kEvex512Immediate, 4)), (WiderInstructions{11, 0, 0}));
  // None of them follows another directly.
  EXPECT_EQ(of(repeated(kEvex512 + "\x90", 20)), WiderInstructions());
}

TEST(WiderInstructions, LeavesOutNarrowerOnes) {
  EXPECT_EQ(of(repeated(kEvex256, 20)), WiderInstructions());
  EXPECT_EQ(of(repeated(kVex256, 20)), WiderInstructions());
}

TEST(WiderInstructions, TellsVnniAndAmxApart) {
  EXPECT_EQ(of(repeated(kVnni512, 10)), (WiderInstructions{9, 9, 0}));
  EXPECT_EQ(of(repeated(kVnniVex, 10)), (WiderInstructions{0, 9, 0}));
  EXPECT_EQ(of(repeated(kTileLoad + kTileProduct, 5)), (WiderInstructions{0, 0, 9}));
}

TEST(WiderInstructions, TakesNoDataForCode) {
  EXPECT_EQ(of(std::string(100000, '\x62')), WiderInstructions());
  EXPECT_EQ(of(repeated("_ZN5clang6interpLb1EEEEEbRNS0_11InterpSta", 3000)), WiderInstructions());
  EXPECT_EQ(of(repeated("brotli/brotli.(*hasher)", 3000)), WiderInstructions());
  std::string drawn;
  uint64_t state = 1;
  for (size_t i = 0; i < 4000000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    drawn += static_cast<char>(state >> 56U);
  }
  EXPECT_EQ(of(drawn), WiderInstructions());
}

TEST(WiderInstructions, NeedsFourPairsInAPage) {
  std::string page = repeated(kEvex512, 4);
  page.resize(4096, '\x90');
  EXPECT_EQ(of(repeated(page, 50)), WiderInstructions());
}

TEST(WiderInstructions, ReadsNothingBeyondTheEnd) {
  for (size_t size = 0; size < 40; ++size)
    EXPECT_LE(wider_instructions(repeated(kEvex512, 8).substr(0, size)).avx512_count, size);
}

// One segment that is executable, and one that is not.
std::string elf_file(const std::string& code, const std::string& data) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Phdr segments[2] = {};
  segments[0].p_type = segments[1].p_type = PT_LOAD;
  segments[0].p_flags = PF_R | PF_X;
  segments[0].p_offset = sizeof header + sizeof segments;
  segments[0].p_filesz = code.size();
  segments[1].p_flags = PF_R;
  segments[1].p_offset = segments[0].p_offset + code.size();
  segments[1].p_filesz = data.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
         std::string(reinterpret_cast<const char*>(segments), sizeof segments) + code + data;
}

TEST(WiderInstructions, OfAFileAreThoseOfItsExecutableSegments) {
  const std::string code = repeated(kEvex512, 20) + std::string(64, '\x90'), data(100, '\0');
  EXPECT_EQ(wider_instructions_of_file(elf_file(code, data)), (WiderInstructions{19, 0, 0}));
  EXPECT_EQ(wider_instructions_of_file(elf_file(data, code)), WiderInstructions());
  EXPECT_EQ(wider_instructions_of_file("#!/bin/sh\n"), std::nullopt);
  EXPECT_EQ(wider_instructions_of_file(elf_file(code, data).substr(0, 60)), std::nullopt);
}

class FindWiderCode : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::create("");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
  }
  std::string file(const std::string& name, const std::string& code) {
    const std::string path = folder_->path() + "/" + name;
    EXPECT_TRUE(write_file_atomically(path, elf_file(code + std::string(64, '\x90'), "")));
    return path;
  }
  std::optional<TempFolder> folder_;
};

TEST_F(FindWiderCode, AddsUpWhatRanBesideIt) {
  const std::string wide = file("libwide.so", repeated(kVnni512, 20)),
                    narrow = file("libnarrow.so", repeated(kVex256, 20)),
                    c_library = file("libc.so.6", repeated(kEvex512, 20));
  const WiderCode found = find_wider_code(
      {{wide, 300, 200}, {narrow, 300, 100}, {c_library, 100, 100}, {wide, 100, 100}, {"", 200, 50}}, 1000);
  EXPECT_EQ(found.missing, "");
  EXPECT_THAT(found.counts,
              UnorderedElementsAre(Pair("vector_block_instructions", 450), Pair("wider_code_instructions", 300),
                                   Pair("wider_code_vnni_instructions", 300), Pair("wider_code_amx_instructions", 0),
                                   Pair("made_code_vector_instructions", 50)));
  ASSERT_TRUE(found.warning);
  EXPECT_EQ(found.warning->code, "wider-vectors");
  EXPECT_THAT(found.warning->message, HasSubstr("35% of the instructions"));
  EXPECT_THAT(found.warning->message,
              HasSubstr("30% in libwide.so (AVX-512, VNNI), 5% in code that the program made itself"));
}

TEST_F(FindWiderCode, SaysNothingOfALittle) {
  const std::string wide = file("libwide.so", repeated(kEvex512, 20));
  const WiderCode found = find_wider_code({{wide, 300, 15}, {"/no/such/file", 1, 1}}, 1000);
  EXPECT_EQ(found.counts.at("wider_code_instructions"), 15);
  EXPECT_FALSE(found.warning);
}

TEST_F(FindWiderCode, KnowsNothingOfAFileThatCannotBeRead) {
  const WiderCode found = find_wider_code({{"/no/such/file", 300, 200}}, 1000);
  EXPECT_TRUE(found.counts.empty());
  EXPECT_EQ(found.missing, "a file that vector code ran in can't be read: /no/such/file");
  EXPECT_FALSE(find_wider_code({}, 1000).missing.empty());
}

}  // namespace
}  // namespace perfcast
