#pragma once
// Answers every sample at once, within issue(): what is measured then is the load generator.

#include <span>
#include <string>

#include "ai/load/system_under_test.h"

namespace perfcast::ai {

class NullSystem final : public SystemUnderTest {
 public:
  std::string name() const override { return "null"; }
  Status start(std::span<const uint32_t> /*samples*/, ResponseSink& sink) override {
    sink_ = &sink;
    return {};
  }
  void issue(std::span<const IssuedSample> query) override {
    for (const IssuedSample& sample : query) sink_->complete(sample.id, {});
  }
  void finish() override { sink_ = nullptr; }

 private:
  ResponseSink* sink_ = nullptr;
};

}  // namespace perfcast::ai
