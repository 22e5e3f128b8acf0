#pragma once
// One answer of a server with OpenAI's interface, from the bytes of its body as they come: a stream of events, or a
// single JSON answer of a server that does not stream.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "ai/system/completion_chunk.h"
#include "ai/system/sse_reader.h"

namespace perfcast::ai {

class AnswerStream {
 public:
  // Calls `token` for each piece of text in these bytes, which came at `at_ns`. Nothing is taken behind a problem.
  void take(std::string_view bytes, int64_t at_ns, const std::function<void()>& token);
  // The body is whole: an event that lacks its blank line counts, too, and what is no stream is read as one answer.
  void finish(const std::function<void()>& token);

  const std::string& problem() const { return problem_; }  // what is wrong with the answer; empty: nothing so far
  const std::string& text() const { return text_; }
  int64_t pieces() const { return pieces_; }
  int64_t counted_tokens() const { return counted_tokens_; }  // by the server; 0: it says nothing
  int64_t prompt_tokens() const { return prompt_tokens_; }    // the same
  // When the last piece of text came; the count of tokens, "[DONE]" and the body's end may come long behind it.
  // Of an answer without pieces: when its last bytes came. 0: nothing came.
  int64_t end_ns() const { return piece_ns_ != 0 ? piece_ns_ : bytes_ns_; }

 private:
  void take_event(std::string_view data, const std::function<void()>& token);
  void take_whole_body();

  SseReader events_;
  std::string text_, problem_;
  std::string body_;     // while it may be a single answer
  std::string foreign_;  // the first event that is no part of an answer
  int64_t pieces_ = 0, counted_tokens_ = 0, prompt_tokens_ = 0, bytes_ns_ = 0, piece_ns_ = 0;
  bool is_done_ = false, has_choices_ = false;
};

}  // namespace perfcast::ai
