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
  // What this piece adds: content, reasoning (`reasoning` or `reasoning_content`), a refusal, names and arguments of
  // tool calls.
  std::string text;
  bool has_choices = false;                  // else it is no part of the answer: a sign of life, a statement of costs
  bool finished = false;                     // with one of the reasons that the interface names
  std::optional<int64_t> completion_tokens;  // that the server counted
  int64_t prompt_tokens = 0;                 // the same; 0: it doesn't say
};

inline constexpr std::string_view kStreamEnd = "[DONE]";

// Errors: "bad-chunk" (no JSON, as broken UTF-8 makes it; members of an answer that are of another kind),
// "server-error" with the server's own message. An "error" that says nothing (null, "", {}, [], false, 0) is none.
Result<CompletionChunk> parse_completion_chunk(std::string_view data);

struct EmbeddingAnswer {
  int64_t embeddings = 0;
  int64_t prompt_tokens = 0;  // that the server counted; 0: it doesn't say
};
// The whole answer of an embeddings endpoint: its vectors, as lists or in base64, are looked for, not read: they are
// long, and reading them would take this client's time. Errors as above, "bad-chunk" where there is no vector.
Result<EmbeddingAnswer> scan_embedding_answer(std::string_view body);

}  // namespace perfcast::ai
