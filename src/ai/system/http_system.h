#pragma once
// A server that speaks OpenAI's interface, completions, chat completions or embeddings, as a system under test: each
// sample is a request. The answer is streamed as server-sent events, that of embeddings comes whole. All requests are
// on one thread (libcurl's multi interface), which notes when bytes arrive; connections are used again.
//
// A piece of the stream that adds text counts as a token when it arrives; how many tokens the answer has, the server's
// own count says where it gives one ("usage").

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ai/load/system_under_test.h"
#include "ai/system/request_bodies.h"

namespace perfcast::ai {

// "bad-usage" where the address is none of http:// or https://.
Status check_endpoint(const std::string& url);

// So many connections, each with so many descriptors of this process: raises the soft limit of open files to the hard
// one. "bad-usage" where that isn't enough.
Status make_room_for_connections(int64_t connections, int64_t files_each);

// Prompts from lines of JSON: a text, or an object with "prompt" or, where they are for chat completions, "messages".
// At most 1,000,000 lines and 256 MiB.
Result<std::vector<std::string>> read_prompts(const std::string& path, bool chat);
Result<std::vector<std::string>> parse_prompts(std::string_view text, const std::string& source, bool chat);
// `count` different ones of so many words each, from a seed.
std::vector<std::string> made_up_prompts(int64_t count, int64_t words, bool chat, uint64_t seed);

// All requests that are on their way, and a thread for them.
class EndpointRequests {
 public:
  virtual ~EndpointRequests() = default;
  virtual void add(std::span<const IssuedSample> query, ResponseSink& sink) = 0;
  virtual void give_up() = 0;  // when it returns, no request is on its way
};

class HttpSystem final : public SystemUnderTest {
 public:
  explicit HttpSystem(HttpSystemOptions options);
  ~HttpSystem() override;
  HttpSystem(const HttpSystem&) = delete;
  HttpSystem& operator=(const HttpSystem&) = delete;

  std::string name() const override;
  // Errors: nobody listens there ("endpoint-failed").
  Status start(std::span<const uint32_t> samples, ResponseSink& sink) override;
  void issue(std::span<const IssuedSample> query) override;
  void finish() override;  // requests that are still on their way are given up

 private:
  HttpSystemOptions options_;
  RequestBodies bodies_;
  ResponseSink* sink_ = nullptr;
  std::unique_ptr<EndpointRequests> requests_;
};

}  // namespace perfcast::ai
