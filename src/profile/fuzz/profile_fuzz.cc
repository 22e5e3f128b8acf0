// Any bytes: no crash; what is accepted must come back the same from its own text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/json.h"
#include "profile/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const auto json = parse_json({reinterpret_cast<const char*>(data), size}, "input");
  if (!json) return 0;
  const auto profile = profile_from_json(*json, "input");
  if (!profile) return 0;
  const auto again = parse_json(to_text(to_json(*profile)), "again");
  if (!again) std::abort();
  const auto back = profile_from_json(*again, "again");
  if (!back || !(*back == *profile)) std::abort();
  return 0;
}
