// Requests of any operation: the first line names it, the rest is its body. No crash, and what is answered is JSON.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "service/operation.h"
#include "service/testing/shipped_context.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  static const service::Context context(service::shipped_files());
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(text.find('\n'), text.size());
  const service::Operation* operation = service::find_operation(text.substr(0, line));
  if (operation == nullptr) return 0;
  // What may take long is cut short: its requests are read, and its work ends at once.
  service::Watch watch;
  watch.is_cancelled = [] { return true; };
  const auto answer = service::answer_json(*operation, context, text.substr(std::min(line + 1, text.size())), watch);
  if (answer && !parse_json(answer->json, "answer")) std::abort();
  return 0;
}
