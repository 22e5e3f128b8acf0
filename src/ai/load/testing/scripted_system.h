#pragma once
// A system for tests: what it does with each query says a function.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ai/load/system_under_test.h"

namespace perfcast::ai {

class ScriptedSystem : public SystemUnderTest {
 public:
  using Act = std::function<void(std::span<const IssuedSample>, ResponseSink&)>;
  explicit ScriptedSystem(Act act) : act_(std::move(act)) {}

  std::string name() const override { return "scripted"; }
  Status start(std::span<const uint32_t> samples, ResponseSink& sink) override {
    started_with.emplace_back(samples.begin(), samples.end());
    sink_ = &sink;
    return refuses ? Status(*refuses) : Status();
  }
  void issue(std::span<const IssuedSample> query) override {
    for (const IssuedSample& sample : query) issued.push_back(sample);
    act_(query, *sink_);
  }
  void flush() override { ++flushes; }
  void finish() override {
    ++finishes;
    sink_ = nullptr;
  }

  std::vector<std::vector<uint32_t>> started_with;
  std::vector<IssuedSample> issued;
  std::optional<Error> refuses;
  int flushes = 0, finishes = 0;

 private:
  Act act_;
  ResponseSink* sink_ = nullptr;
};

inline void answer_all(std::span<const IssuedSample> query, ResponseSink& sink) {
  for (const IssuedSample& sample : query) sink.complete(sample.id, {});
}

}  // namespace perfcast::ai
