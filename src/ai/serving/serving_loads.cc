#include "ai/serving/serving_loads.h"

#include <algorithm>
#include <utility>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kMostPrefixBlocks = 1 << 27;
// Long enough to see a queue grow.
constexpr double kUsualSeconds = 600;
constexpr double kLeastUsual = 1000, kMostUsual = 100'000, kUsualRounds = 20;

std::string rate_words(double rate) {
  const std::string text = csv_number(rate);
  return text + (text == "1" ? " request/s" : " requests/s");
}

int64_t requests_of(const AskedLoads& asked, double rate, int64_t clients) {
  if (asked.requests > 0) return asked.requests;
  const double usual = clients > 0 ? kUsualRounds * static_cast<double>(clients) : kUsualSeconds * rate;
  return static_cast<int64_t>(std::clamp(usual, kLeastUsual, kMostUsual));
}

}  // namespace

ServingLoads::ServingLoads(AskedLoads asked) {
  if (asked.requests > 0 && static_cast<size_t>(asked.requests) < asked.trace.requests.size()) {
    asked.trace.requests.resize(static_cast<size_t>(asked.requests));
  }
  asked_ = std::make_shared<const AskedLoads>(std::move(asked));
}

Result<std::vector<ServingLoad>> ServingLoads::all() const {
  const AskedLoads& asked = *asked_;
  if (!asked.rates_per_s.empty() && !asked.clients.empty()) {
    return usage_error("bad-usage", "a rate of arrivals, and clients that wait for their answers", "concurrency",
                       "one of both");
  }
  if (!asked.clients.empty() && asked.in_flight > 0) {
    return usage_error("bad-usage", "clients of a closed loop, and a limit on requests that are under way",
                       "most_in_flight", "a rate or a trace with it");
  }
  std::vector<ServingLoad> loads;
  const std::string limited = asked.in_flight > 0 ? ", at most " + std::to_string(asked.in_flight) + " under way" : "";
  for (const double rate : asked.rates_per_s) {
    loads.push_back({.rate_per_s = rate,
                     .most_in_flight = asked.in_flight,
                     .words = rate_words(rate) + limited,
                     .trace = [asked = asked_, rate] { return drawn(*asked, rate, 0, 0); }});
  }
  for (const int64_t count : asked.clients) {
    loads.push_back({.concurrency = count,
                     .words = std::to_string(count) + (count == 1 ? " client" : " clients"),
                     .trace = [asked = asked_, count] { return drawn(*asked, 0, count, 0); }});
  }
  if (loads.empty()) {
    if (asked.trace_name.empty()) {
      return usage_error("bad-usage", "no load is named", "", "a rate of arrivals, a number of clients, or a trace");
    }
    loads.push_back({.most_in_flight = asked.in_flight,
                     .words = "the requests of " + printable(asked.trace_name) + limited,
                     .trace = [asked = asked_] { return drawn(*asked, 0, 0, 0); }});
  }
  if (Status fits = check_prefixes(loads); !fits) return fits.error();
  return loads;
}

Status ServingLoads::check_prefixes(const std::vector<ServingLoad>& loads) const {
  const TraceShape& shape = asked_->shape;
  if (!asked_->trace_name.empty() || shape.turns == 1) return {};
  double most = 0;
  for (const ServingLoad& load : loads) {
    const double each = (shape.prompt_tokens + shape.output_tokens) * static_cast<double>(shape.turns);
    // A conversation's blocks, for each of its turns; of 16 tokens.
    most = std::max(most, static_cast<double>(requests_of(*asked_, load.rate_per_s, load.concurrency)) /
                              static_cast<double>(shape.turns) * each / 16);
  }
  if (most <= kMostPrefixBlocks) return {};
  return usage_error("bad-usage", "conversations of " + human_number(most * 16) + " tokens in all", "requests",
                     "fewer requests, or shorter ones: at most " + human_number(kMostPrefixBlocks * 16) + " tokens");
}

ServingTrace ServingLoads::drawn(const AskedLoads& asked, double rate, int64_t clients, int64_t requests) {
  if (asked.trace_name.empty()) {
    TraceShape shape = asked.shape;
    shape.requests = requests > 0 ? requests : requests_of(asked, rate, clients);
    shape.seed = asked.seed;
    shape.rate_per_s = rate / static_cast<double>(shape.turns);
    return draw_trace(shape);
  }
  ServingTrace trace = asked.trace;
  if (rate > 0) {
    const auto first = std::count_if(trace.requests.begin(), trace.requests.end(),
                                     [](const ServingRequest& request) { return request.after < 0; });
    const double share = static_cast<double>(first) / static_cast<double>(trace.requests.size());
    draw_arrivals(trace, rate * share, asked.shape.burst, asked.seed);
  }
  return trace;
}

}  // namespace perfcast::ai
