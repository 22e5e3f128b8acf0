#pragma once
// An endpoint on this machine that has no work to do: each answer's pieces come at times that are known beforehand.
// What a client measures beyond them is its own, and the network's.
//
// It speaks enough of OpenAI's interface for HttpSystem: completions, chat completions and embeddings. One thread, on
// the loopback address, on a port that the system picks.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "ai/load/system_under_test.h"
#include "ai/system/request_bodies.h"
#include "base/result.h"

namespace perfcast::ai {

struct NullEndpointOptions {
  int64_t pieces = 16;  // of each answer, each of one token
  double gap_s = 0;     // from one piece to the next; the first comes at once
  // The last piece comes so long behind the first.
  double answer_s() const { return gap_s * static_cast<double>(pieces - 1); }
};

// "null-endpoint", "null-endpoint:20", "null-endpoint:20,10ms": pieces and their gap. "bad-usage".
Result<NullEndpointOptions> parse_null_endpoint(std::string_view text, const std::string& where);

class NullEndpoint {
 public:
  // "endpoint-failed" where no port can be had.
  static Result<std::unique_ptr<NullEndpoint>> start(const NullEndpointOptions& options);
  ~NullEndpoint();
  NullEndpoint(const NullEndpoint&) = delete;
  NullEndpoint& operator=(const NullEndpoint&) = delete;

  std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  NullEndpoint() = default;

  int listener_ = -1, wake_ = -1;
  int port_ = 0;
  std::jthread thread_;
};

// The two together, as a system under test; the address among the client's options is set here.
Result<std::unique_ptr<SystemUnderTest>> make_null_endpoint_system(const NullEndpointOptions& options,
                                                                   HttpSystemOptions client);

}  // namespace perfcast::ai
