#pragma once
// Loads of services as the command line names them: shared by `llm serve-sim` and `capacity --llm`.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "ai/serving/drawn_trace.h"
#include "ai/serving/serving_forecast.h"
#include "ai/serving/serving_trace.h"
#include "ai/serving_plan/serving_plan.h"
#include "base/result.h"

namespace perfcast::cli {

inline constexpr int64_t kMostServingTokens = int64_t{1} << 24;

struct ServingLoadArguments {
  std::string trace;
  std::vector<std::string> rates, clients;
  ai::TraceShape shape;
  int64_t requests = 0;   // 0: by the load
  int64_t in_flight = 0;  // that clients of an open load send at most; 0: any
  const CLI::App* verb = nullptr;
  const char* command = "perfcast llm serve-sim";  // that errors name
};
void add_serving_load_options(CLI::App& verb, ServingLoadArguments& arguments);

// The file of --trace. "bad-usage" where it has no times of arrival and is to be sent at these; errors of reading.
Result<ai::TraceRead> read_trace_option(const std::string& path, bool by_itself);

class ServingLoads {
 public:
  // `arguments` must outlive it.
  ServingLoads(const ServingLoadArguments& arguments, uint64_t seed) : arguments_(arguments), seed_(seed) {}

  // The loads refer to this object. "bad-usage" names the option; errors of read_serving_trace().
  Status read(std::vector<ai::ServingLoad>& loads, std::vector<std::string>& notes);
  // The only one, as a load that can be scaled. "bad-usage" where there are several.
  Result<ai::PlanLoad> read_one(std::vector<std::string>& notes);

 private:
  Status read_trace(bool by_itself, std::vector<std::string>& notes);
  Status check_prefixes(const std::vector<ai::ServingLoad>& loads) const;
  int64_t requests_of(double rate, int64_t clients) const;
  // Drawn: so many requests, 0: by the load.
  ai::ServingTrace trace_at(double rate, int64_t clients, int64_t requests) const;

  const ServingLoadArguments& arguments_;
  uint64_t seed_;
  ai::ServingTrace trace_;
};

}  // namespace perfcast::cli
