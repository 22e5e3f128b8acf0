#pragma once
// A network of dense layers with random weights on oneDNN, in fp32: a system that is there on every machine. A product
// of matrices alone is one of a single layer.
//
// Inputs are made from a seed. Samples wait in a queue; a thread takes as many as there are, up to the largest batch,
// and computes them together. The answer is the largest output's index, as text; whether it is right says the same
// network computed by plain loops in double precision.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ai/load/system_under_test.h"

namespace perfcast::ai {

struct MlpOptions {
  std::vector<int64_t> widths = {784, 512, 512,
                                 10};  // of the input, of each layer's output; all but the last have ReLU
  int64_t largest_batch = 32;
  int threads = 1;
  uint64_t seed = 1;
};

// "mlp" (the default), "mlp:784,512,10", "gemm:512" (a layer of 512 x 512). "bad-usage": fewer than two widths, a width
// that is not 1 to 65536, more than 1e9 weights.
Result<MlpOptions> parse_mlp(std::string_view text, const std::string& where);

class MlpSystem final : public SystemUnderTest {
 public:
  explicit MlpSystem(MlpOptions options);
  ~MlpSystem() override;
  MlpSystem(const MlpSystem&) = delete;
  MlpSystem& operator=(const MlpSystem&) = delete;

  std::string name() const override;
  // Errors: oneDNN's, "out-of-memory".
  Status start(std::span<const uint32_t> samples, ResponseSink& sink) override;
  void issue(std::span<const IssuedSample> query) override;
  bool runs_on_cpus() const override { return true; }
  void finish() override;  // what is queued is dropped
  std::optional<bool> is_right(uint32_t index, std::string_view data) override;

 private:
  class Network;
  void follow(const std::stop_token& stop);
  Status compute(std::span<const IssuedSample> batch, std::vector<int64_t>& best);

  MlpOptions options_;
  std::unique_ptr<Network> network_;
  std::mutex lock_;  // of what follows
  std::condition_variable_any changed_;
  ResponseSink* sink_ = nullptr;
  std::deque<IssuedSample> queue_;
  bool is_busy_ = false;
  std::jthread thread_;  // the last: it uses all others
};

}  // namespace perfcast::ai
