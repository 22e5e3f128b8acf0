#pragma once
// CPU servers as `llm serve-sim` takes them.

#include <string>
#include <vector>

#include "ai/serving/cpu_serving_forecast.h"
#include "base/result.h"
#include "cli/ai/llm_serving_options.h"

namespace perfcast::cli {

// Whether --on names CPUs. Errors of are_cpus() and open_devices().
Result<bool> serves_on_cpus(const ServingArguments& arguments);

// The service, and all of the request but its loads; notes for the report are added. "bad-usage" names the option, also
// one that CPUs have no use for; errors of load_model() and run_cpu_forecast().
Result<ai::CpuService> take_cpu_service(const ServingArguments& arguments, ai::ServingRequestFor& request,
                                        std::vector<std::string>& notes);

}  // namespace perfcast::cli
