// Any bytes as the body of a request: no crash; what is accepted fits the model, and is answered in JSON.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ai/endpoint/completion_answer.h"
#include "ai/endpoint/completion_request.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const ServedModel model{"m", 100, 64};
  for (const bool is_chat : {false, true}) {
    const auto request = parse_completion(body, is_chat, model);
    if (!request) {
      if (!parse_json(error_body(request.error()), "error")) std::abort();
      continue;
    }
    const auto length = static_cast<int64_t>(request->prompt.size());
    if (length < 1 || request->max_tokens < 1 || length + request->max_tokens > model.context_tokens) std::abort();
    if (std::any_of(request->prompt.begin(), request->prompt.end(), [](int32_t t) { return t < 0 || t >= 100; })) {
      std::abort();
    }
    CompletionAnswer answer(*request, "m", 1, 0);
    (void)answer.add(7);
    const std::string end = answer.finish();
    if (!request->stream && !parse_json(end, "answer")) std::abort();
  }
  return 0;
}
