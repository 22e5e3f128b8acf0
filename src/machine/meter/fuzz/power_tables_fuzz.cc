// Any bytes in the place of a table of powers: no crash; what is accepted can be asked.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "machine/meter/frequency_energy.h"
#include "machine/meter/platform_power.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto table = parse_frequency_table(text, "input")) {
    const auto forecast = forecast_over_frequency(*table, {1, 1e9, 0.5, 2});
    if (!forecast || forecast->points.size() != table->size()) std::abort();
    for (const FrequencyPoint& point : forecast->points) {
      if (!(point.joules >= 0) || std::isnan(point.time_s)) std::abort();
    }
  }
  if (const auto table = PlatformPowerTable::parse(text, "input")) {
    const CpuPower* cpu = table->find(std::string(text.substr(0, 100)));
    if (cpu != nullptr && !(cpu->tdp_w > 0 && cpu->cores >= 1)) std::abort();
  }
  return 0;
}
