// Any bytes as a server's stream of events, and as prompts: no crash, and the same events however the bytes are cut.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ai/system/answer_stream.h"
#include "ai/system/http_system.h"
#include "ai/system/sse_reader.h"

namespace {

std::vector<std::string> events_of(std::string_view text, size_t step) {
  perfcast::ai::SseReader reader;
  std::vector<std::string> events;
  for (size_t at = 0; at < text.size(); at += step) {
    if (!reader.feed(text.substr(at, step), [&](std::string_view data) { events.emplace_back(data); })) break;
  }
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = events_of(text, size + 1);
  if (events_of(text, 1) != whole || events_of(text, 7) != whole) std::abort();
  int64_t tokens = 0;
  const auto token = [&tokens] { ++tokens; };
  AnswerStream answer;
  answer.take(text, 1, token);
  answer.finish(token);
  if (answer.counted_tokens() < 0 || answer.pieces() != tokens) std::abort();
  if (const auto vectors = scan_embedding_answer(text); vectors && vectors->embeddings < 1) std::abort();
  const auto prompts = parse_prompts(text, "input", true);
  if (!prompts) return 0;
  HttpSystemOptions options;
  options.url = "http://host/v1/chat/completions";
  for (const std::string& prompt : *prompts) (void)request_body(options, prompt);
  return 0;
}
