#pragma once
// The pieces of an answer as OpenAI's interface streams them, of completions and of chat completions; also whole
// answers of a server that does not stream.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perfcast::ai {

struct CompletionChunk {
  std::string text;                          // what this piece adds
  bool finished = false;                     // with a reason for the end
  std::optional<int64_t> completion_tokens;  // that the server counted
};

inline constexpr std::string_view kStreamEnd = "[DONE]";

// Errors: "bad-chunk" (no JSON, as broken UTF-8 makes it; not the members of such an answer), "server-error" with the
// server's own message.
Result<CompletionChunk> parse_completion_chunk(std::string_view data);

}  // namespace perfcast::ai
