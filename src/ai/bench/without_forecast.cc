// In place of bench_forecast.cc in builds without the built-in transformer: there is nothing to forecast, and so
// nothing to print of a forecast.
#include "ai/bench/bench_forecast.h"
#include "base/json.h"

namespace perfcast::ai {

Result<BenchForecast> forecast_bench(ComparisonRequest, int64_t, const std::vector<BenchReport>&,
                                     const std::function<void(const std::string&)>&) {
  return usage_error("not-built", "this build of perfcast has no transformer of its own", "--forecast",
                     "a build with the CMake option PERFCAST_TRANSFORMER");
}
std::string title_of(ForecastQuantity) { return {}; }
Json to_json(const BenchForecast&) { return nullptr; }
std::string to_text(const TransformerComparison&, bool) { return {}; }

}  // namespace perfcast::ai
