// Tables of lines come from another process' memory, which may change while it is read.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "measure/diagnose/observe/script_lines.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view table(reinterpret_cast<const char*>(data), size);
  for (const int64_t unit : {int64_t{0}, int64_t{7}, int64_t{1000}, INT64_MAX}) {
    if (perfcast::measure::line_of_instruction(table, 1, unit) < 0) __builtin_trap();
  }
  perfcast::measure::python_minor_version(table);
  return 0;
}
