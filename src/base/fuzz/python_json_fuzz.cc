// Any bytes as a value of Python: no crash; what is walked over is JSON, and none of it is read beyond the end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/json.h"
#include "base/python_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto literal = python_literal(text);
  if (literal && literal->length > size) std::abort();
  const auto json = parse_python_json(text, "input");
  if (parse_json(text, "input") && !json) std::abort();
  if (json) (void)to_text(*json);
  return 0;
}
