#pragma once
// Answers in the form of OpenAI's interface: whole, as pieces of a stream, and errors.

#include <cstdint>
#include <string>

#include "ai/endpoint/completion_request.h"
#include "base/result.h"

namespace perfcast::ai {

// One answer under way.
class CompletionAnswer {
 public:
  // `number`: of the answer, for its id. `created_s`: seconds since 1970.
  CompletionAnswer(const CompletionRequest& request, std::string model, uint64_t number, int64_t created_s);

  bool is_stream() const { return stream_; }
  // The next token: what to send of it at once; empty of an answer that comes whole.
  std::string add(int32_t token);
  // Of a stream its last events; else the whole body.
  std::string finish();
  int64_t tokens() const { return tokens_; }

 private:
  std::string event(const std::string& text, bool is_last) const;

  bool is_chat_, stream_, include_usage_;
  std::string id_, model_, text_;
  int64_t created_s_, prompt_tokens_, tokens_ = 0;
};

// {"error": {"message", "type", "param", "code"}}, and the status that goes with it.
std::string error_body(const Error& error);
int status_of(const Error& error);
// {"object": "list", "data": [...]}; of one model, its entry.
std::string models_body(const std::string& model, int64_t created_s, bool is_list);

}  // namespace perfcast::ai
