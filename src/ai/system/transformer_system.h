#pragma once
// A transformer that runs on this machine's CPUs (ai/transformer) as a system under test.
//
// Prompts are made from a seed, all of one length; each answer is so many tokens, the likeliest of each step, reported
// one by one. A thread of its own takes what waits into free slots between two steps, so that answers of all ages go
// through a step together (continuous batching). An answer's data are its tokens as numbers; whether they are right
// says the same transformer, run over the sample alone.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ai/llm/precision.h"
#include "ai/load/system_under_test.h"

namespace perfcast::ai {

class GenerationQueue;
struct OpenedTransformer;

struct TransformerSystemOptions {
  std::string model = "perfcast-15m";      // a name or a path, as open_transformer() takes it
  Precision precision = Precision::kFp32;  // of weights: kFp32 or kInt8
  int threads = 1;
  int64_t slots = 8;  // answers at once
  int64_t prompt_tokens = 128, new_tokens = 64;
  uint64_t seed = 1;
};

// "transformer", "transformer:perfcast-110m,int8,threads=2,slots=4", "transformer:PATH"; what isn't said is
// `defaults`'. "bad-usage" with `where`.
Result<TransformerSystemOptions> parse_transformer_system(std::string_view text,
                                                          const TransformerSystemOptions& defaults,
                                                          const std::string& where);

class TransformerSystem final : public SystemUnderTest {
 public:
  // Reads or makes the weights. Errors of open_transformer(); prompts and answers that are longer than the model has
  // positions for are "bad-usage" of --prompt-words.
  static Result<std::unique_ptr<SystemUnderTest>> create(const TransformerSystemOptions& options);
  ~TransformerSystem() override;
  TransformerSystem(const TransformerSystem&) = delete;
  TransformerSystem& operator=(const TransformerSystem&) = delete;

  std::string name() const override;
  Status start(std::span<const uint32_t> samples, ResponseSink& sink) override;
  void issue(std::span<const IssuedSample> query) override;
  void finish() override;  // what isn't answered is dropped, after the step that runs
  // Right: each token's logit is the largest, but for what sums of another order make of it, by the spread of the
  // logits. Not-a-number is never right.
  std::optional<bool> is_right(uint32_t index, std::string_view data) override;
  bool runs_on_cpus() const override { return true; }
  std::optional<Error> judging_error() const override { return judging_error_; }

 private:
  struct Answer {
    uint64_t id = 0;
    std::string data;
  };
  TransformerSystem(const TransformerSystemOptions& options, OpenedTransformer opened);
  std::vector<int32_t> prompt_of(uint32_t index) const;
  void follow(const std::stop_token& stop);
  // Until nothing is left, or everything is to be dropped; `lock` is held before and after.
  void answer_all(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  Status add(std::span<const IssuedSample> samples);
  Status take_step(ResponseSink& sink);

  TransformerSystemOptions options_;
  std::unique_ptr<OpenedTransformer> opened_;
  std::unique_ptr<OpenedTransformer> judge_;  // made where answers are judged, once
  std::optional<Error> judging_error_;
  std::unique_ptr<GenerationQueue> generation_;
  std::map<size_t, Answer> answers_;  // by the number that the queue has of it
  std::mutex lock_;                   // of what follows
  std::condition_variable_any changed_;
  ResponseSink* sink_ = nullptr;
  std::vector<IssuedSample> queue_;
  bool is_busy_ = false, is_ending_ = false;
  std::jthread thread_;  // the last: it uses all others
};

}  // namespace perfcast::ai
