#pragma once
// What a client asks for in OpenAI's interface: bodies of /v1/completions and /v1/chat/completions. Untrusted input.
//
// The built-in transformers have no tokeniser. A word, which is what stands between blanks, is a token: "t123" is the
// token 123, so that what was answered can be asked again; any other word is one of the vocabulary, by its hash.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ai/transformer/token_sampler.h"
#include "base/result.h"

namespace perfcast::ai {

// What is served; requests are held to it.
struct ServedModel {
  std::string name;
  int64_t vocabulary = 0;
  int64_t context_tokens = 0;  // of a prompt with its answer
};

struct CompletionRequest {
  bool is_chat = false, stream = false, include_usage = false;
  std::vector<int32_t> prompt;
  int64_t max_tokens = 16;
  SamplingSettings sampling;  // by default the likeliest token
};

// "bad-usage" with the member in `where`; "unknown-model"; "bad-json". Members that aren't known are passed over; those
// that ask for what this can't do are an error unless they hold what it does anyhow.
Result<CompletionRequest> parse_completion(std::string_view body, bool is_chat, const ServedModel& model);

std::vector<int32_t> tokens_of(std::string_view text, int64_t vocabulary);
std::string word_of(int32_t token);  // "t123"

}  // namespace perfcast::ai
