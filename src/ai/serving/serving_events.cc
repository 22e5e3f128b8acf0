#include "ai/serving/serving_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/report/trace_lanes.h"

namespace perfcast::ai {
namespace {

int64_t microseconds(double seconds) { return std::llround(seconds * 1e6); }

}  // namespace

ServingEvents::ServingEvents(const ServingRequestFor& request)
    : request_(request), writer_([this](std::string_view piece) { text_ += piece; }, "model", request.config.name) {}

void ServingEvents::add(const ServingRow& row, const ServingTrace& trace, const ServeRun& run) {
  const std::string service =
      fmt::format("{}, {}: ", request_.devices[row.device].facts.name, request_.loads[row.load].words);
  const int64_t queue = next_process_;
  writer_.name_process(queue, service + "waiting", queue);
  std::vector<size_t> shown;
  int32_t replicas = 0;
  for (size_t i = 0; i < run.outcomes.size() && shown.size() < kMostShown; ++i) {
    const RequestOutcome& outcome = run.outcomes[i];
    if (outcome.refused || std::isnan(outcome.last_token_s)) continue;
    shown.push_back(i);
    replicas = std::max(replicas, outcome.replica + 1);
  }
  for (int32_t i = 0; i < replicas; ++i) {
    writer_.name_process(queue + 1 + i, service + fmt::format("replica {}", i + 1), queue + 1 + i);
  }
  next_process_ += replicas + 1;
  std::stable_sort(shown.begin(), shown.end(),
                   [&](size_t a, size_t b) { return run.outcomes[a].scheduled_s < run.outcomes[b].scheduled_s; });
  TraceLanes waiting;
  std::vector<TraceLanes> running(static_cast<size_t>(replicas));
  std::vector<size_t> by_ready = shown;
  std::stable_sort(by_ready.begin(), by_ready.end(),
                   [&](size_t a, size_t b) { return run.outcomes[a].ready_s < run.outcomes[b].ready_s; });
  for (const size_t i : by_ready) {
    const int64_t start = microseconds(run.outcomes[i].ready_s), end = microseconds(run.outcomes[i].scheduled_s);
    if (end <= start) continue;
    writer_.span(
        {queue, 1 + waiting.take(start, end), "\"waits\"", "queue", start, end, fmt::format("\"request\":{}", i + 1)});
  }
  for (const size_t i : shown) {
    const RequestOutcome& outcome = run.outcomes[i];
    const int64_t start = microseconds(outcome.scheduled_s), first = microseconds(outcome.first_token_s);
    const int64_t end = microseconds(outcome.last_token_s), process = queue + 1 + outcome.replica;
    const int64_t lane = 1 + running[static_cast<size_t>(outcome.replica)].take(start, std::max(end, first));
    const std::string args =
        fmt::format("\"request\":{},\"prompt_tokens\":{},\"output_tokens\":{},\"preemptions\":{}", i + 1,
                    trace.requests[i].prompt_tokens, trace.requests[i].output_tokens, outcome.preemptions);
    writer_.span({process, lane, "\"prompt\"", "prompt", start, first, args});
    if (end > first) writer_.span({process, lane, "\"answer\"", "answer", first, end, args});
  }
  for (const ServeSample& sample : run.samples) {
    const int64_t at = microseconds(sample.at_s);
    writer_.counter(queue, "requests that run", at, static_cast<double>(sample.running));
    writer_.counter(queue, "requests that wait", at, static_cast<double>(sample.waiting));
    writer_.counter(queue, "cache in use, %", at, std::round(1000 * sample.cache_use) / 10);
  }
}

std::string ServingEvents::take() {
  writer_.end();
  return std::move(text_);
}

}  // namespace perfcast::ai
