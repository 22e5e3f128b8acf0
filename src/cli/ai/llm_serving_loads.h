#pragma once
// Loads of services as the command line names them: shared by `llm serve-sim` and `capacity --llm`.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "ai/serving/drawn_trace.h"
#include "ai/serving/serving_loads.h"
#include "ai/serving/serving_trace.h"
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

// The loads that were asked for. "bad-usage" names the option; errors of read_serving_trace(). Notes are of the trace.
Result<ai::ServingLoads> serving_loads_of(const ServingLoadArguments& arguments, uint64_t seed,
                                          std::vector<std::string>& notes);

}  // namespace perfcast::cli
