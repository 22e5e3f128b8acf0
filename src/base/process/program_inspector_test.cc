#include "base/process/program_inspector.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/process/duration.h"
#include "base/process/temp_folder.h"

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string elf_bytes(uint16_t machine, uint16_t type, bool with_loader) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = type;
  header.e_machine = machine;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  const std::string loader = std::string("/lib/ld.so") + '\0';
  segment.p_type = with_loader ? PT_INTERP : PT_LOAD;
  segment.p_offset = sizeof(header) + sizeof(segment);
  segment.p_filesz = loader.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
         std::string(reinterpret_cast<const char*>(&segment), sizeof(segment)) + loader;
}

// An ELF file with a symbol table whose names are these.
std::string elf_with_names(const std::string& names, uint32_t table = SHT_DYNSYM) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  Elf64_Shdr sections[2] = {};
  sections[0].sh_type = table;
  sections[0].sh_link = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sizeof(header) + sizeof(sections);
  sections[1].sh_size = names.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
         std::string(reinterpret_cast<const char*>(sections), sizeof(sections)) + names;
}

TEST(Sanitizer, IsSeenByNames) {
  const std::string nul(1, '\0');
  const std::pair<const char*, const char*> cases[] = {{"__asan_init", "AddressSanitizer"},
                                                       {"libasan.so.8", "AddressSanitizer"},
                                                       {"__tsan_init", "ThreadSanitizer"},
                                                       {"libtsan.so.2", "ThreadSanitizer"},
                                                       {"__msan_init", "MemorySanitizer"},
                                                       {"libhwasan.so.0", "HWAddressSanitizer"},
                                                       {"__hwasan_init", "HWAddressSanitizer"},
                                                       {"__asan_initialised", ""},
                                                       {"my__asan_init", ""},
                                                       {"libc.so.6", ""}};
  for (const auto& [name, sanitizer] : cases) {
    for (const std::string& before : {std::string(), "printf" + nul}) {
      // Linked with -static-libasan it names no library, and its own table alone has the symbol.
      EXPECT_EQ(sanitizer_of(elf_with_names(nul + before + name + nul, SHT_SYMTAB)), sanitizer) << name;
      EXPECT_EQ(sanitizer_of(elf_with_names(nul + before + name + nul, SHT_STRTAB)), "") << name;
      const std::string file = elf_with_names(nul + before + name + nul + "exit" + nul);
      EXPECT_EQ(sanitizer_of(file), sanitizer) << name;
      for (size_t cut = 0; cut < file.size(); ++cut) EXPECT_EQ(sanitizer_of(file.substr(0, cut)), "");
    }
  }
}

class Scripts : public testing::Test {
 protected:
  std::string make(const std::string& name, const std::string& text, mode_t mode = 0755) {
    std::string path = folder_.path() + "/" + name;
    EXPECT_TRUE(write_file_atomically(path, text));
    chmod(path.c_str(), mode);
    return path;
  }
  TempFolder folder_ = *TempFolder::create();
};

TEST(Elf, TellsMachineAndLinkage) {
  const auto dynamic = parse_elf(elf_bytes(EM_X86_64, ET_DYN, true), "a");
  ASSERT_TRUE(dynamic);
  EXPECT_EQ(dynamic->instruction_set, "x86_64");
  EXPECT_TRUE(dynamic->is_64_bit);
  EXPECT_FALSE(dynamic->is_static);
  EXPECT_EQ(dynamic->loader, "/lib/ld.so");
  const auto fixed = parse_elf(elf_bytes(EM_AARCH64, ET_EXEC, false), "a");
  ASSERT_TRUE(fixed);
  EXPECT_EQ(fixed->instruction_set, "aarch64");
  EXPECT_TRUE(fixed->is_static);
}

TEST(Elf, RefusesWhatIsNoProgram) {
  EXPECT_THAT(parse_elf("", "a").error().message, HasSubstr("neither an ELF program nor a script"));
  EXPECT_THAT(parse_elf("plain text, long enough", "a").error().expected, HasSubstr("sh FILE"));
  EXPECT_THAT(parse_elf(elf_bytes(EM_X86_64, ET_REL, false), "a").error().message, HasSubstr("object"));
  std::string narrow = elf_bytes(EM_386, ET_EXEC, false);
  narrow[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(parse_elf(narrow, "a").error().message, HasSubstr("32-bit one (i386)"));
  std::string big = elf_bytes(EM_S390, ET_EXEC, false);
  big[EI_DATA] = ELFDATA2MSB;
  EXPECT_THAT(parse_elf(big, "a").error().message, HasSubstr("big-endian"));
}

TEST(Elf, SurvivesEveryCut) {
  const std::string whole = elf_bytes(EM_X86_64, ET_DYN, true);
  for (size_t size = 0; size < sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr); ++size) {
    EXPECT_FALSE(parse_elf(whole.substr(0, size), "a")) << size;
  }
  std::string far = whole;
  const uint64_t offset = ~uint64_t{0} - 8;
  std::memcpy(far.data() + offsetof(Elf64_Ehdr, e_phoff), &offset, sizeof(offset));
  EXPECT_THAT(parse_elf(far, "a").error().message, HasSubstr("lie outside"));
}

TEST_F(Scripts, LeadToTheirInterpreter) {
  const std::string script = make("script", "#!/bin/sh -e\nexit 0\n");
  const auto facts = inspect_program({script, "one", "two"});
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_TRUE(facts->is_script);
  EXPECT_EQ(facts->path, script);
  EXPECT_EQ(facts->binary, "/bin/sh");
  EXPECT_THAT(facts->arguments, ElementsAre("/bin/sh", "-e", script, "one", "two"));
  EXPECT_TRUE(facts->runs_here);
}

TEST_F(Scripts, LookThroughEnv) {
  const std::string script = make("script", "#! /usr/bin/env sh\n");
  const auto facts = inspect_program({script, "one"});
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->binary, find_in_path("sh"));
  EXPECT_THAT(facts->arguments, ElementsAre("sh", script, "one"));
  const auto split = inspect_program({make("split", "#!/usr/bin/env -S sh -e\n")});
  ASSERT_TRUE(split);
  EXPECT_THAT(split->arguments, ElementsAre("sh", "-e", testing::EndsWith("/split")));
}

TEST_F(Scripts, AreRefusedWithAReason) {
  EXPECT_THAT(inspect_program({make("a", "#!/nonexistent/sh\n")}).error().message, HasSubstr("is missing"));
  EXPECT_THAT(inspect_program({make("b", "#!\n")}).error().message, HasSubstr("names no interpreter"));
  EXPECT_THAT(inspect_program({make("c", "echo hello\n")}).error().expected, HasSubstr("sh FILE"));
  EXPECT_THAT(inspect_program({make("d", "#!/bin/sh\n", 0644)}).error().expected, HasSubstr("chmod +x"));
  const std::string circle = folder_.path() + "/circle";
  make("circle", "#!" + circle + "\n");
  EXPECT_THAT(inspect_program({circle}).error().message, HasSubstr("too deeply"));
  EXPECT_THAT(inspect_program({folder_.path()}).error().message, HasSubstr("a folder"));
}

TEST(Inspect, ResolvesByPath) {
  const auto facts = inspect_program({"sh", "-c", "true"});
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->path, find_in_path("sh"));
  EXPECT_THAT(facts->arguments, ElementsAre("sh", "-c", "true"));
  EXPECT_EQ(inspect_program({"no-such-program-here"}).error().code, "program-not-found");
  EXPECT_EQ(inspect_program({"/no/such"}).error().code, "program-not-found");
  EXPECT_EQ(inspect_program({}).error().code, "bad-usage");
  EXPECT_EQ(inspect_program({""}).error().code, "bad-usage");
}

TEST(Duration, HasUnits) {
  EXPECT_EQ(*parse_duration_s("60s", "--limit"), 60);
  EXPECT_EQ(*parse_duration_s("2m", "--limit"), 120);
  EXPECT_EQ(*parse_duration_s("1h", "--limit"), 3600);
  EXPECT_EQ(*parse_duration_s("500ms", "--limit"), 0.5);
  EXPECT_DOUBLE_EQ(*parse_duration_s("100us", "--limit"), 1e-4);
  EXPECT_DOUBLE_EQ(*parse_duration_s("50ns", "--limit"), 5e-8);
  EXPECT_EQ(*parse_duration_s("1.5", "--limit"), 1.5);
  for (const char* bad : {"", "s", "us", "0", "-1s", "1d", "nan", "inf", "1e400"}) {
    const auto duration = parse_duration_s(bad, "--limit");
    ASSERT_FALSE(duration) << bad;
    EXPECT_EQ(duration.error().code, "bad-usage");
    EXPECT_EQ(duration.error().where, "--limit");
  }
}

}  // namespace
}  // namespace perfcast
