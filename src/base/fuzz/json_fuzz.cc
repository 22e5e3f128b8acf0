// Any bytes: no crash; what is accepted is written as text that reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const auto json = parse_json({reinterpret_cast<const char*>(data), size}, "input");
  if (!json) return 0;
  const auto again = parse_json(to_text(*json), "again");
  if (!again || !(*again == *json)) std::abort();
  JsonReader in(*json, "input");
  (void)in.number("n");
  (void)in.strings("list");
  (void)in.integer_or("i", 1);
  (void)in.finish();
  return 0;
}
