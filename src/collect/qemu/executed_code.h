#pragma once
// Which code an instrumented run executed, and how often: the plugin's blocks, by program and process.

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
};

struct ExecutedMapping {
  uint64_t start = 0, end = 0, file_offset_bytes = 0;
  std::string path;  // empty: no file, generated code
};

// Of one program in one process. Addresses are the process's.
struct ExecutedCode {
  std::string program;
  int64_t process = 0;
  double weight = 1;
  std::vector<ExecutedMapping> mappings;
  std::vector<ExecutedBlock> blocks;
};

Result<ExecutedCode> parse_executed_code(std::string_view text, const std::string& source);

}  // namespace perfcast
