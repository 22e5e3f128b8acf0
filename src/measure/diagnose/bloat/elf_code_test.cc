#include "measure/diagnose/bloat/elf_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

namespace perfcast::measure {
namespace {

ElfCode elf_code_of(const std::string& path) {
  auto code = read_elf_code(path);
  EXPECT_TRUE(code) << path;
  return code ? std::move(*code) : ElfCode{};
}

const ElfFunction* function_named(const ElfCode& code, const std::string& name) {
  const auto found = std::find_if(code.functions.begin(), code.functions.end(),
                                  [&](const ElfFunction& of) { return of.name == name; });
  return found == code.functions.end() ? nullptr : &*found;
}

TEST(ElfCode, HasFunctionsApart) {
  const ElfCode code = elf_code_of(PERFCAST_BLOAT_USED);
  EXPECT_TRUE(code.has_symbols);
  EXPECT_FALSE(code.is_program);
  EXPECT_EQ(code.own_name, "libperfcast_bloat_used.so");
  for (const char* name : {"mix_sse2", "mix_avx2", "used_work", "unused_work"}) {
    const ElfFunction* const function = function_named(code, name);
    ASSERT_NE(function, nullptr) << name;
    EXPECT_EQ(code.function_at(function->address), function);
    EXPECT_EQ(code.function_at(function->address + function->bytes - 1), function);
    const ElfPiece* const piece = code.piece_at(function->address);
    ASSERT_NE(piece, nullptr);
    EXPECT_EQ(piece->name, ".text");
  }
  uint64_t end = 0;
  for (const ElfFunction& function : code.functions) {
    EXPECT_GE(function.address, end);
    end = function.address + function.bytes;
  }
  EXPECT_EQ(code.function_at(end), nullptr);
}

// Without symbols the same functions are there, by their unwinding information.
TEST(ElfCode, KnowsFunctionsOfStrippedFiles) {
  const ElfCode whole = elf_code_of(PERFCAST_BLOAT_USED);
  const std::string path =
      std::filesystem::path(PERFCAST_BLOAT_USED).parent_path().string() + "/bloat_used_stripped.so";
  const ElfCode stripped = elf_code_of(path);
  EXPECT_FALSE(stripped.has_symbols);
  EXPECT_EQ(stripped.mapped_bytes, whole.mapped_bytes);
  EXPECT_EQ(stripped.purposes.code_bytes, whole.purposes.code_bytes);
  EXPECT_EQ(stripped.purposes.symbols_bytes < whole.purposes.symbols_bytes, true);
  for (const char* name : {"mix_sse2", "mix_avx2", "used_work", "unused_work"}) {
    const ElfFunction* const function = function_named(whole, name);
    ASSERT_NE(function, nullptr);
    const ElfFunction* const same = stripped.function_at(function->address);
    ASSERT_NE(same, nullptr) << name;
    EXPECT_EQ(same->address, function->address);
    EXPECT_EQ(same->bytes, function->bytes);
    EXPECT_EQ(same->name, std::strncmp(name, "mix", 3) == 0 ? "" : name);
  }
}

TEST(ElfCode, TellsWhatBytesAreFor) {
  const ElfCode code = elf_code_of(PERFCAST_BLOAT_GUINEA);
  EXPECT_TRUE(code.is_program);
  EXPECT_TRUE(code.loader.find("ld-") != std::string::npos) << code.loader;
  EXPECT_EQ(code.file_bytes, std::filesystem::file_size(PERFCAST_BLOAT_GUINEA));
  const ElfPurposes& of = code.purposes;
  uint64_t sections = 0;
  for (const ElfPiece& piece : code.sections) sections += piece.bytes;
  EXPECT_EQ(of.code_bytes, sections);
  EXPECT_GT(of.unwinding_bytes, 0U);
  EXPECT_GT(of.linking_bytes, 0U);
  EXPECT_GT(of.symbols_bytes, 0U);
  EXPECT_GT(of.comments_bytes, 0U);
  EXPECT_LE(of.code_bytes + of.constant_bytes + of.variable_bytes + of.unwinding_bytes + of.linking_bytes +
                of.symbols_bytes + of.debugging_bytes + of.comments_bytes + of.other_bytes,
            code.file_bytes);
  ASSERT_EQ(code.segments.size(), 1U);
  EXPECT_GE(code.mapped_bytes, code.segments[0].bytes);
  EXPECT_LT(code.mapped_bytes, code.segments[0].bytes + uint64_t{2} * 4096);
  for (const char* library : {"libperfcast_bloat_used.so", "libperfcast_bloat_start.so", "libperfcast_bloat_idle.so"})
    EXPECT_EQ(std::count(code.needed.begin(), code.needed.end(), library), 1) << library;
  EXPECT_TRUE(std::binary_search(code.undefined.begin(), code.undefined.end(), "used_work"));
  EXPECT_GT(code.relocations_count, 0U);
}

TEST(ElfCode, KnowsConstructorsAndDestructors) {
  const ElfCode code = elf_code_of(PERFCAST_BLOAT_START);
  for (const char* name : {"starts", "ends"}) {
    const ElfFunction* const function = function_named(code, name);
    ASSERT_NE(function, nullptr);
    EXPECT_TRUE(std::binary_search(code.start_functions.begin(), code.start_functions.end(), function->address))
        << name;
  }
  const ElfFunction* const other = function_named(code, "start_value");
  ASSERT_NE(other, nullptr);
  EXPECT_FALSE(std::binary_search(code.start_functions.begin(), code.start_functions.end(), other->address));
}

TEST(ElfCode, SaysWhatIsNone) {
  EXPECT_EQ(read_elf_code("/nonexistent").error().code, "file-not-found");
  EXPECT_EQ(read_elf_code("/tmp").error().code, "file-not-found");
  EXPECT_EQ(read_elf_code(PERFCAST_SOURCE_DIR "/README.md").error().code, "not-elf");
}

// Bytes of an .eh_frame, least significant first.
class UnwindBytes {
 public:
  UnwindBytes& byte(unsigned value) {
    bytes_ += static_cast<char>(value);
    return *this;
  }
  UnwindBytes& word(uint32_t value) {
    for (unsigned shift = 0; shift < 32; shift += 8) byte(value >> shift & 0xFFU);
    return *this;
  }
  // What all functions share: addresses are 4 bytes, relative to where they stand.
  UnwindBytes& shared() {
    return word(16)
        .word(0)
        .byte(1)
        .byte('z')
        .byte('R')
        .byte(0)
        .byte(1)
        .byte(0x78)
        .byte(16)
        .byte(1)
        .byte(0x1B)
        .byte(0)
        .byte(0)
        .byte(0);
  }
  UnwindBytes& function(uint32_t address, uint32_t bytes, uint32_t back) {
    return word(12).word(back).word(address - static_cast<uint32_t>(bytes_.size())).word(bytes);
  }
  const std::string& text() const { return bytes_; }

 private:
  std::string bytes_;
};

TEST(Unwinding, HasFunctions) {
  UnwindBytes frame;
  frame.shared();
  frame.function(0x1000, 0x20, 24).function(0x2000, 5, 40).word(0);
  const auto functions = functions_of_unwinding(frame.text(), 0);
  ASSERT_EQ(functions.size(), 2U);
  EXPECT_EQ(functions[0].address, 0x1000U);
  EXPECT_EQ(functions[0].bytes, 0x20U);
  EXPECT_EQ(functions[1].address, 0x2000U);
  EXPECT_EQ(functions[1].bytes, 5U);
  // The section lies elsewhere: all that is relative to it does.
  EXPECT_EQ(functions_of_unwinding(frame.text(), 0x500).front().address, 0x1500U);
}

TEST(Unwinding, LeavesOutWhatIsDamaged) {
  UnwindBytes frame;
  frame.shared();
  frame.function(0x1000, 0x20, 24);
  const std::string& whole = frame.text();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(functions_of_unwinding(whole.substr(0, size), 0).empty()) << size;
  UnwindBytes wrong;
  wrong.shared();
  wrong.function(0x1000, 0x20, 9999);  // refers to what lies before the section
  EXPECT_TRUE(functions_of_unwinding(wrong.text(), 0).empty());
}

TEST(Variants, AreToldByProcessors) {
  const std::map<std::string, std::string> cases = {{"__memmove_avx_unaligned_erms", "__memmove"},
                                                    {"__strlen_sse2", "__strlen"},
                                                    {"__memset_avx512_no_vzeroupper", "__memset"},
                                                    {"__strcasecmp_l_evex", "__strcasecmp_l"},
                                                    {"dgemm_kernel_HASWELL", "dgemm_kernel"},
                                                    {"sha1_block_data_order_ssse3", "sha1_block_data_order"},
                                                    {"mix_avx2(int)", "mix"},
                                                    {"__sse2", ""},
                                                    {"memcpy", ""},
                                                    {"read_fmap", ""},
                                                    {"", ""}};
  for (const auto& [name, family] : cases) EXPECT_EQ(variant_of(name), family) << name;
}

}  // namespace
}  // namespace perfcast::measure
