#include "ai/serving/serving_events.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "ai/serving/testing/toy_time.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

// Two requests at once, of which the second waits for the first, and a third that is refused.
TEST(ServingEvents, SpansAreWhatRequestsDid) {
  ServingRequestFor request;
  request.config.name = "ten";
  request.devices.resize(1);
  request.devices[0].facts.name = "Test GPU";
  request.loads.resize(1);
  request.loads[0].words = "a load";
  ServingTrace trace;
  trace.requests = {{.prompt_tokens = 100, .output_tokens = 3},
                    {.prompt_tokens = 200, .output_tokens = 1},
                    {.prompt_tokens = 20000, .output_tokens = 1}};
  ServeOptions options;
  options.limits.cache_tokens = 10000;
  options.limits.max_sequences = 1;
  const auto run = serve(trace, options, ToyTime());
  ASSERT_TRUE(run);
  ServingEvents events(request);
  events.add({}, trace, *run);
  const Json json = Json::parse(events.take());
  std::vector<std::tuple<std::string, int64_t, int64_t, int64_t>> spans;  // name, process, from, how long
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] == "X") spans.emplace_back(event["name"], event["pid"], event["ts"], event["dur"]);
  }
  const std::vector<std::tuple<std::string, int64_t, int64_t, int64_t>> expected = {
      {"waits", 1, 0, 42000}, {"prompt", 2, 0, 20000}, {"answer", 2, 20000, 22000}, {"prompt", 2, 42000, 30000}};
  EXPECT_EQ(spans, expected);
}

}  // namespace
}  // namespace perfcast::ai
