#pragma once
// The loads that `bench run` is asked for as clients of a service send requests.

#include <memory>
#include <string>
#include <vector>

#include "ai/load/load_settings.h"
#include "ai/serving/serving_request.h"
#include "base/result.h"
#include "cli/ai/bench_run_options.h"

namespace perfcast::cli {

struct ClientLoad {
  ai::LoadScenario scenario = ai::LoadScenario::kConcurrency;
  double load = 0;                           // clients, or requests per second
  std::shared_ptr<const ai::LoadPlan> plan;  // null: requests are drawn from the samples
};

struct ClientLoads {
  std::vector<ClientLoad> loads;  // rising
  bool by_rate = false;
  std::shared_ptr<const ai::ServingTrace> trace;  // what all plans are of; null: none
  std::vector<std::string> notes;                 // of how a trace was read
};

// Whether --concurrency, --rate or --trace is given.
bool asks_for_clients(const BenchArguments& arguments);

// `duration_s`: of a run, as far as requests are drawn. Usage errors, and those of the trace's reader.
Result<ClientLoads> client_loads(const BenchArguments& arguments, double duration_s, uint64_t seed);

}  // namespace perfcast::cli
