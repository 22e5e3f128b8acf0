#pragma once
// Simulated services as a trace (base/report/chrome_trace.h): requests that wait, prompts and answers of each replica.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ai/serving/serving_forecast.h"
#include "base/report/chrome_trace.h"

namespace perfcast::ai {

// One process for each replica of a row, and one for what waits; a lane for each request that runs at a time. Spans:
// "waits" from the engine's queue to the first step, "prompt" to the first token, "answer" to the last one. Counters:
// requests that run, that wait, and the share of the cache in use, by ServeRun::samples. Of a row the first kMostShown
// requests that ended.
class ServingEvents {
 public:
  static constexpr size_t kMostShown = 100'000;

  explicit ServingEvents(const ServingRequestFor& request);
  void add(const ServingRow& row, const ServingTrace& trace, const ServeRun& run);
  // Of all rows; nothing is added after it.
  std::string take();

 private:
  const ServingRequestFor& request_;
  std::string text_;
  ChromeTraceWriter writer_;
  int64_t next_process_ = 1;
};

}  // namespace perfcast::ai
