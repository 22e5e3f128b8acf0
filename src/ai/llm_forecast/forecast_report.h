#pragma once
// A sweep of forecasts for people and machines.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ai/latency/model/device_catalogue.h"
#include "ai/llm_forecast/device_provider.h"
#include "ai/llm_forecast/forecast_sweep.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast::ai {

// The note of JSON and CSV, which have times of every row.
inline constexpr std::string_view kTimesOfMisses =
    "times of what does not fit are those of a device with enough memory";

struct ForecastDevice {
  std::shared_ptr<const LatencyModel> model;
  DeviceTerms terms;
};

struct LlmForecastReport {
  LlmConfig config;
  int64_t parameters = 0;
  SweepGrid grid;
  std::vector<ForecastDevice> devices;
  SweepResult result;
  // Each row whole, where there are at most kMostDetails; else empty.
  std::vector<LlmForecast> details;
  // Of each row that doesn't fit: the fewest devices that hold the model; 0: none, or not asked for.
  std::vector<int64_t> fits_on;
  std::vector<std::string> notes;

  const DeviceFacts& device(const ForecastRow& row) const { return devices[row.device].model->device(); }
  const EngineTerms& engine(const ForecastRow& row) const { return devices[row.device].terms.engine; }
};
inline constexpr size_t kMostDetails = 256;

// The first refusal where no configuration is left; else sweep_forecasts()'s errors.
Result<LlmForecastReport> report_forecast(const LlmConfig& config, const std::vector<ForecastDevice>& devices,
                                          const SweepGrid& grid);

// One row: its times, memory and operator classes. Several: a table of rows.
std::string forecast_text(const LlmForecastReport& report);
std::string forecast_rows_text(const LlmForecastReport& report);  // that table
// A line per row; absent figures are empty cells.
std::string forecast_csv(const LlmForecastReport& report);
// Schema perfcast.llm.forecast/1; lower and upper are those of tokens_per_s; absent figures are left out.
Json forecast_json(const LlmForecastReport& report);

// The devices of a provider: as a table, or as perfcast.llm.devices/1.
Result<std::string> device_list_text(const DeviceProvider& provider);
Result<Json> device_list_json(const DeviceProvider& provider);

}  // namespace perfcast::ai
