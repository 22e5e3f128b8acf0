#pragma once
// Functions of the test program itself, written down as instructions, as if they had run so and so often.

#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

#include "base/file.h"
#include "base/text.h"
#include "measure/diagnose/observe/code_map.h"
#include "measure/diagnose/observe/observation.h"
#include "profile/collect/qemu/executed_code.h"

namespace perfcast::measure {

#if defined(__x86_64__)
// A function with a symbol of its size, and a label behind it. NOLINTBEGIN(bugprone-macro-parentheses): names
#define PERFCAST_FUNCTION(name, text)                                                                        \
  __asm__(".pushsection .text\n.intel_syntax noprefix\n.globl " #name "\n.type " #name ", @function\n" #name \
          ":\n" text ".size " #name ", . - " #name "\n" #name "_end:\n.att_syntax\n.popsection\n");          \
  extern "C" const char name[];                                                                              \
  extern "C" const char name##_end[]
// NOLINTEND(bugprone-macro-parentheses)
#endif

inline std::string own_path() {
  std::array<char, 4096> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), static_cast<size_t>(size > 0 ? size : 0)};
}

// The mappings of this process that a file has, and blocks between labels.
struct OwnCode {
  ExecutedCode executed;

  OwnCode() {
    const auto maps = read_file("/proc/self/maps");
    for (const std::string& line : split(maps ? *maps : std::string(), '\n')) {
      const auto words = split(line, ' ');
      const size_t path = line.find('/');
      if (words.size() < 5 || path == std::string::npos) continue;
      ExecutedMapping mapping;
      mapping.start = std::stoull(words[0].substr(0, words[0].find('-')), nullptr, 16);
      mapping.end = std::stoull(words[0].substr(words[0].find('-') + 1), nullptr, 16);
      mapping.file_offset_bytes = std::stoull(words[2], nullptr, 16);
      mapping.path = line.substr(path);
      executed.mappings.push_back(mapping);
    }
  }
  void add(const char* from, const char* until, uint64_t executions, uint64_t iterations = 0) {
    ExecutedBlock block;
    block.address = reinterpret_cast<uint64_t>(from);
    block.bytes = static_cast<uint32_t>(until - from);
    block.executions_count = executions;
    block.iterations_count = iterations;
    executed.blocks.push_back(block);
  }
  // As the file numbers it.
  uint64_t file_address(const char* at, CodeMap& code) const {
    const auto address = reinterpret_cast<uint64_t>(at);
    uint64_t result = 0;
    for (const ExecutedMapping& mapping : executed.mappings) {
      if (address >= mapping.start && address < mapping.end)
        code.address_of(mapping.path, address - mapping.start + mapping.file_offset_bytes, result);
    }
    return result;
  }
};

inline HotFunction own_function(const std::string& name, const char* from, const char* until, CodeMap& code) {
  HotFunction function;
  function.function = name;
  function.library = own_path();
  function.address = OwnCode().file_address(from, code);
  function.bytes = static_cast<uint64_t>(until - from);
  function.cpu_share = 0.9;
  return function;
}

}  // namespace perfcast::measure
