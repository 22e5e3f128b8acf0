// Any bytes as samples of power: no crash; what is read has rows of one length, power and settings above 0 and runs in
// order.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "measure/power/table/power_table.h"
#include "measure/power/table/table_settings.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::measure;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool counts : {false, true}) {
    PowerTableOptions options;
    options.counts = counts;
    options.needs_watts = !counts;
    options.most_rows = 10000;
    PowerTableNotes notes;
    const auto table = read_power_table(text, "fuzz", options, notes);
    if (!table) continue;
    const auto rows = static_cast<Eigen::Index>(table->rows());
    if (table->watts.size() != rows || table->values.rows() != rows || table->run.size() != table->rows()) std::abort();
    for (Eigen::Index r = 0; r < rows; ++r) {
      if (table->watts(r) <= 0) std::abort();
      if (r > 0 && table->run[static_cast<size_t>(r)] < table->run[static_cast<size_t>(r - 1)]) std::abort();
    }
    if ((table->values.array() < 0).any()) std::abort();
    if (!check_settings(*table)) std::abort();
  }
  return 0;
}
