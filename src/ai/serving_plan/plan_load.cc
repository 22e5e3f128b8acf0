#include "ai/serving_plan/plan_load.h"

#include <algorithm>
#include <string>

namespace perfcast::ai {

Result<PlanLoad> plan_load_of(const ServingLoads& loads) {
  const auto all = loads.all();
  if (!all) return all.error();
  if (all->size() > 1) {
    return usage_error("bad-usage", std::to_string(all->size()) + " loads",
                       all->front().concurrency > 0 ? "concurrency" : "rate",
                       "one: a plan is made for one load, and growth says what more of it needs");
  }
  const AskedLoads& asked = loads.asked();
  const double rate = all->front().rate_per_s;
  const int64_t clients = all->front().concurrency;
  PlanLoad load{.rate_per_s = rate, .concurrency = clients, .words = all->front().words, .trace = {}};
  if (asked.requests > 0) load.requests = asked.requests;
  load.most_in_flight = asked.in_flight;
  if (clients == 0 && !(rate > 0)) {
    load.is_recorded = true;
    double last_s = 0;
    for (const ServingRequest& request : asked.trace.requests) {
      if (request.after < 0) last_s = std::max(last_s, request.arrival_s);
    }
    if (last_s > 0) load.rate_per_s = static_cast<double>(asked.trace.requests.size()) / last_s;
    load.trace = [loads](double factor, int64_t) {
      return scaled_trace(loads.asked().trace, factor, loads.asked().seed);
    };
  } else {
    load.trace = [loads, rate, clients](double factor, int64_t requests) {
      return loads.trace_at(clients > 0 ? 0 : factor * rate, clients, requests);
    };
  }
  return load;
}

}  // namespace perfcast::ai
