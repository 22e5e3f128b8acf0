#pragma once
// The bodies of requests to an endpoint: of prompts that are there, or of a trace's requests, whose prompts are made up
// as they are sent.
//
// A made-up prompt has a word for each token that the trace names: common words are a token each in most vocabularies,
// and how many there were the server says. Blocks that a trace names by the same hash are the same words. A turn of a
// conversation begins with what was said before it, the server's own answers included.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ai/serving/serving_request.h"
#include "base/result.h"

namespace perfcast::ai {

struct HttpSystemOptions {
  std::string url;                   // http://host:port/v1/chat/completions; without a path: /v1/completions
  std::string model;                 // empty: the request names none
  std::vector<std::string> prompts;  // sample i has prompt i modulo their number: JSON objects whose members are sent
  // In their place: sample i is request i, with a prompt and an answer of its length. Times are the load's business.
  std::shared_ptr<const ServingTrace> trace;
  uint64_t seed = 1;                 // of the trace's words
  int64_t max_tokens = 0;            // 0: the server's own
  bool max_tokens_wins = false;      // over a prompt's own; else over none
  bool ignores_end = false;          // the server is asked to go on behind an end of text, as some can ("ignore_eos")
  std::vector<std::string> headers;  // "Authorization: Bearer ..."
  int64_t most_connections = 512;    // at once; further requests wait for one, which their latency counts
  double connect_limit_s = 10;
  double stall_limit_s = 61;  // a request that was sent fails where nothing comes for so long
};

bool is_chat(const std::string& url);
bool is_embedding(const std::string& url);

// The body of a request: the prompt's members, with "model", "stream", "max_tokens" and what asks for a token count; of
// embeddings its "input" and "model".
std::string request_body(const HttpSystemOptions& options, const std::string& prompt);

// So many words, the same for the same seed.
std::string words_of(uint64_t seed, int64_t count);

// Not for several threads at once.
class RequestBodies {
 public:
  explicit RequestBodies(const HttpSystemOptions& options);

  bool empty() const { return bodies_.empty() && (!trace_ || trace_->requests.empty()); }
  struct Body {
    std::string text;                     // made for this request
    std::string said;                     // of a conversation that goes on: its messages so far
    const std::string* shared = nullptr;  // in the place of `text`, as long as this object lives
    const std::string& bytes() const { return shared != nullptr ? *shared : text; }
  };
  Body body_of(uint32_t index);
  // What a request was answered, for the turn that follows it.
  void answered(uint32_t index, const Body& body, const std::string& answer);
  // A run has ended: the turns that would follow its answers don't come.
  void forget() { said_.clear(); }

 private:
  // The same request may run several times at once, and several may follow it: an answer is kept until each follower
  // has taken it.
  struct Said {
    std::string text;
    std::vector<uint32_t> taken_by;
  };
  std::string take_said(uint32_t follower, uint32_t before);
  std::string prompt_words(const ServingRequest& request, uint32_t index) const;
  std::string turn_words(const ServingRequest& request, uint32_t index) const;

  std::vector<std::string> bodies_;
  std::shared_ptr<const ServingTrace> trace_;
  std::vector<uint32_t> followers_;                      // of each request: turns that follow it
  std::unordered_map<uint32_t, std::deque<Said>> said_;  // by the request that a turn follows; the oldest first
  std::string members_;                                  // of each body, with a comma behind
  uint64_t seed_;
  bool chat_, embedding_;
};

}  // namespace perfcast::ai
