#pragma once
// Results of Google Benchmark (--benchmark_out, JSON).

#include <string>

#include "base/json_fwd.h"
#include "measure/compare/result_file.h"

namespace perfcast::measure {

// `json` is an object with a list "benchmarks". Single runs where the file has them, otherwise their aggregates. Errors
// as parse_result_file().
Result<ResultFile> google_results(const Json& json, const std::string& source);

}  // namespace perfcast::measure
