// Any bytes as a catalogue of devices: no crash; what is accepted reads back to the same text, and each device is found
// by its name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ai/latency/model/device_catalogue.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto catalogue = parse_device_catalogue({reinterpret_cast<const char*>(data), size}, "input");
  if (!catalogue) return 0;
  for (const DeviceFacts& device : catalogue->devices) {
    const auto found = find_device(*catalogue, device.name);
    if (!found || *found != &device) std::abort();
  }
  const std::string text = to_text(to_json(*catalogue));
  const auto back = parse_device_catalogue(text, "again");
  if (!back || to_text(to_json(*back)) != text) std::abort();
  return 0;
}
