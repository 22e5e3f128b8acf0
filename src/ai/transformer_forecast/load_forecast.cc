#include "ai/transformer_forecast/load_forecast.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ai/transformer/transformer.h"
#include "base/unknown.h"

namespace perfcast::ai {
namespace {

constexpr int64_t kContextStep = 8;

class LoadOnPaper {
 public:
  LoadOnPaper(const LoadShape& shape, const StepSeconds& step_s) : shape_(shape), step_s_(step_s) {}

  Result<LoadTimes> run() {
    while (next_ < shape_.due_s.size() || !active_.empty()) {
      if (active_.empty()) now_s_ = std::max(now_s_, shape_.due_s[next_]);
      const Status taken = take_step();
      if (!taken) return taken.error();
    }
    const auto requests = static_cast<double>(shape_.due_s.size());
    LoadTimes times;
    times.ttft_s = ttft_sum_s_ / requests;
    times.tpot_s = shape_.new_tokens > 1 ? tpot_sum_s_ / requests : kUnknown;
    times.tokens_per_s = requests * static_cast<double>(shape_.new_tokens) / now_s_;
    return times;
  }

 private:
  struct Sequence {
    double due_s = 0, first_s = 0;
    int64_t made = 0;
  };

  // As GenerationQueue::step() does: prompts that have come, of one pass; else a token of each sequence.
  Status take_step() {
    const auto free = static_cast<size_t>(shape_.slots) - active_.size();
    const auto of_a_pass = static_cast<size_t>(std::max<int64_t>(1, kPassRows / shape_.prompt_tokens));
    size_t begun = 0;
    while (begun < std::min(free, of_a_pass) && next_ + begun < shape_.due_s.size() &&
           shape_.due_s[next_ + begun] <= now_s_) {
      ++begun;
    }
    if (begun > 0) return begin(begun);
    int64_t context = 0;
    for (const Sequence& sequence : active_) context += shape_.prompt_tokens + sequence.made;
    const auto count = static_cast<int64_t>(active_.size());
    const int64_t steps = std::max<int64_t>(1, (context / count + kContextStep / 2) / kContextStep);
    if (Status passed = pass({LlmPhase::kDecode, count, steps * kContextStep}); !passed) return passed;
    for (Sequence& sequence : active_) ++sequence.made;
    end_some();
    return {};
  }

  Status begin(size_t count) {
    const StepPoint point = {LlmPhase::kPrefill, static_cast<int64_t>(count), shape_.prompt_tokens};
    if (Status passed = pass(point); !passed) return passed;
    active_.reserve(active_.size() + count);
    for (size_t i = 0; i < count; ++i) {
      active_.push_back({shape_.due_s[next_ + i], now_s_, 1});
      ttft_sum_s_ += now_s_ - shape_.due_s[next_ + i];
    }
    next_ += count;
    end_some();
    return {};
  }

  void end_some() {
    std::erase_if(active_, [&](const Sequence& sequence) {
      if (sequence.made < shape_.new_tokens) return false;
      if (shape_.new_tokens > 1) {
        tpot_sum_s_ += (now_s_ - sequence.first_s) / static_cast<double>(shape_.new_tokens - 1);
      }
      return true;
    });
  }

  Status pass(const StepPoint& point) {
    const std::pair key(point.phase == LlmPhase::kDecode ? point.tokens : 0, point.batch);
    auto found = known_.find(key);
    if (found == known_.end()) {
      const auto seconds = step_s_(point);
      if (!seconds) return seconds.error();
      found = known_.emplace(key, *seconds).first;
    }
    now_s_ += found->second;
    return {};
  }

  const LoadShape& shape_;
  const StepSeconds& step_s_;
  std::map<std::pair<int64_t, int64_t>, double> known_;  // by context, 0 of prompts, and batch
  std::vector<Sequence> active_;
  size_t next_ = 0;
  double now_s_ = 0, ttft_sum_s_ = 0, tpot_sum_s_ = 0;
};

}  // namespace

Result<LoadTimes> times_of_load(const LoadShape& shape, const StepSeconds& step_s) {
  if (shape.due_s.empty() || shape.slots < 1 || shape.prompt_tokens < 1 || shape.new_tokens < 1) {
    return usage_error("bad-usage", "a load without requests, slots or tokens", "", "one of each at least");
  }
  return LoadOnPaper(shape, step_s).run();
}

}  // namespace perfcast::ai
