#pragma once
// Requests of HTTP/1.0 and 1.1, read from a connection's bytes as they come. Untrusted input.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace perfcast {

struct HttpRequest {
  std::string method, path;  // "POST", "/v1/models"; what stands behind a '?' is left out
  std::string body;
  // Fields of the head that handlers ask for; empty where absent, the last one where there are several.
  std::string host, content_type, authorization, request_id, prefer;
  std::string peer;         // the client's address, in digits; set by the server
  bool keeps_alive = true;  // the connection is wanted for further requests
  bool is_1_0 = false;      // knows no chunks
};

// Why bytes are no request that can be answered; the connection can't go on.
struct HttpProblem {
  int status = 400;
  std::string words;
};

struct HttpLimits {
  size_t head_bytes = size_t{64} << 10, body_bytes = size_t{16} << 20;
};

class HttpRequestReader {
 public:
  explicit HttpRequestReader(const HttpLimits& limits = {}) : limits_(limits) {}

  void add(std::string_view bytes) { bytes_ += bytes; }
  // The next whole request, once; nothing: more bytes are needed, or problem() says what is wrong.
  std::optional<HttpRequest> next();
  const std::optional<HttpProblem>& problem() const { return problem_; }
  // Whether the client waits for "100 Continue" before it sends the body of the request at hand. Says so once.
  bool wants_continue();
  bool is_between_requests() const { return held_bytes() == 0 && !head_; }
  size_t held_bytes() const { return bytes_.size() - taken_; }  // that no request was taken from yet

 private:
  struct Head {
    HttpRequest request;
    size_t body_bytes = 0;
    bool expects_continue = false;
  };
  std::string_view rest() const { return std::string_view(bytes_).substr(taken_); }
  void take(size_t bytes);  // off the front of the rest
  bool read_head();
  bool read_request_line(std::string_view line, Head& head);
  bool read_field(std::string_view line, Head& head, std::optional<size_t>& length);
  bool fail(int status, std::string words);

  HttpLimits limits_;
  std::string bytes_;
  size_t taken_ = 0;     // bytes that belong to earlier requests
  size_t searched_ = 0;  // bytes of the rest in which no end of a head begins
  std::optional<Head> head_;
  std::optional<HttpProblem> problem_;
};

// "Not Found" of 404; "Error" of a status that isn't known.
std::string_view reason_of(int status);

}  // namespace perfcast
