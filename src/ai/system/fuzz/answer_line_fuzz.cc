// Any bytes as lines of a system behind a pipe, and as right answers: no crash, and what is taken keeps its limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ai/system/answer_line.h"
#include "ai/system/reference_answers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const auto answer = parse_answer_line(rest.substr(0, end));
    if (answer && (answer->tokens < 0 || answer->tokens > (1 << 30))) std::abort();
    if (answer && answer->kind == AnswerLine::Kind::kToken && answer->tokens == 0) std::abort();
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  const auto references = parse_references(text, "input");
  if (references && references->empty()) std::abort();
  return 0;
}
