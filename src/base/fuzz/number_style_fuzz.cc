// Any lines as numbers: no crash; a style that was decided reads numbers as finite ones, and their plain forms alike.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/csv.h"
#include "base/number_style.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  NumberEvidence evidence(size % 2 == 0 ? ThreeDigits::kAmbiguous : ThreeDigits::kGrouped);
  const auto lines = split(text, '\n');
  for (const auto& line : lines) evidence.see(line);
  if (const auto style = evidence.decide("input")) {
    for (const auto& line : lines) {
      const auto value = parse_number(line, *style);
      if (value && !std::isfinite(*value)) std::abort();
      if (value && !style->is_plain() && parse_number(*plain_number(line, *style)) != value) std::abort();
    }
  }
  const auto table = CsvTable::parse_any_form(text, "input");
  if (table && table->rows() > 0) (void)table->number(table->rows() - 1, 0);
  return 0;
}
