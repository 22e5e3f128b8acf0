#pragma once
// The loads of a service as people state them: rates of arrivals, clients that wait, a trace; drawn where they are no
// trace.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ai/serving/drawn_trace.h"
#include "ai/serving/serving_forecast.h"
#include "ai/serving/serving_trace.h"
#include "base/result.h"

namespace perfcast::ai {

struct AskedLoads {
  std::vector<double> rates_per_s;  // above 0
  std::vector<int64_t> clients;     // of closed loops; not beside rates
  TraceShape shape;                 // of drawn requests; its requests, rate and seed are set from what follows
  int64_t requests = 0;             // 0: by the load
  int64_t in_flight = 0;            // that clients of an open load send at most; 0: any
  ServingTrace trace;               // in the place of drawn requests; empty: none
  std::string trace_name;           // for people; empty: no trace
  uint64_t seed = 1;
};

class ServingLoads {
 public:
  explicit ServingLoads(AskedLoads asked);

  // Each load holds a copy of what it needs. "bad-usage" at "concurrency", "most_in_flight", "requests", "trace"; where
  // no load is named, at "".
  Result<std::vector<ServingLoad>> all() const;
  const AskedLoads& asked() const { return *asked_; }
  // So many requests at this rate, or of so many clients; 0 requests: by the load.
  ServingTrace trace_at(double rate, int64_t clients, int64_t requests) const {
    return drawn(*asked_, rate, clients, requests);
  }

 private:
  static ServingTrace drawn(const AskedLoads& asked, double rate, int64_t clients, int64_t requests);
  Status check_prefixes(const std::vector<ServingLoad>& loads) const;

  std::shared_ptr<const AskedLoads> asked_;
};

}  // namespace perfcast::ai
