// Any bytes in the place of a meter's file: no crash; samples in the order of their times, powers that can be.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "machine/meter/ipmi_text.h"
#include "machine/meter/meter_csv.h"
#include "machine/meter/meter_file.h"
#include "machine/meter/redfish_power.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto kind = meter_file_kind(text, "input"); !kind && kind.error().code.empty()) std::abort();
  if (const auto log = parse_power_csv(text, "input")) {
    for (size_t i = 0; i < log->samples.size(); ++i) {
      if (!(log->samples[i].power_w >= 0 && log->samples[i].power_w <= 1e8)) std::abort();
      if (i > 0 && log->samples[i].unix_s < log->samples[i - 1].unix_s) std::abort();
    }
  }
  for (const char* sensor : {"", "PS1"}) {
    const auto power = parse_ipmi_power(text, "input", sensor);
    if (power && !(power->power_w >= 0 && power->power_w <= 1e9)) std::abort();
  }
  if (const auto power = parse_redfish_power(text, "input"); power && !power->power_w && !power->energy_joules)
    std::abort();
  return 0;
}
