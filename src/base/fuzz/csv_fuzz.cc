// Any bytes: no crash; every cell of an accepted table can be read, as text and as a number.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const auto table = CsvTable::parse({reinterpret_cast<const char*>(data), size}, "input");
  if (!table) return 0;
  for (size_t row = 0; row < table->rows(); ++row) {
    if (table->line(row) < 1) std::abort();
    for (size_t column = 0; column < table->columns().size(); ++column) {
      const auto value = table->number(row, column);
      if (value && *value && !std::isfinite(**value)) std::abort();
      if (table->cell(row, column).size() > size) std::abort();
    }
  }
  for (const std::string& name : table->columns()) {
    if (!table->find_column(name) || !table->column(name)) std::abort();
  }
  return 0;
}
