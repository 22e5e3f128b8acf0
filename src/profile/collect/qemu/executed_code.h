#pragma once
// Which code of a program ran, and how often: the files of blocks that the QEMU plugin writes; plugin/README.md
// describes them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

struct ExecutedBlock {
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint64_t executions_count = 0;
  uint64_t iterations_count = 0;  // of repeated string instructions, beyond executions
  // Of the executions, where `has_start`: those before the program's own first instruction (the dynamic linker's, and
  // constructors of libraries), and those since its end began (destructors).
  uint64_t before_count = 0, since_end_count = 0;
};

struct ExecutedMapping {
  uint64_t start = 0, end = 0, file_offset_bytes = 0;
  std::string path;  // empty: no file, generated code
};

// Of one program in one process. Addresses are the process's; where a mapping took the place of an earlier one, both
// lie n << 52 above where they were, n for the n-th to take that place, and so do their blocks: an address is in one
// mapping, or in none that is known.
struct ExecutedCode {
  std::string program;
  int64_t process = 0;
  double weight = 1;  // processes that it stands for
  bool has_start = false;
  std::vector<ExecutedMapping> mappings;
  std::vector<ExecutedBlock> blocks;
};

// Strict: an unknown version, a line that is neither of the format's, a block outside of its mapping, and a missing end
// are errors ("bad-executed-code", "future-version"). The file says nothing of `program`, `process` and `weight`.
Result<ExecutedCode> parse_executed_code(std::string_view text_or_bytes, const std::string& source);

// The mapping that holds an address; null: none that is known. `mappings` as parse_executed_code() gives them.
const ExecutedMapping* mapping_of(const std::vector<ExecutedMapping>& mappings, uint64_t address);

}  // namespace perfcast
