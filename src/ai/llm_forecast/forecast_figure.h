#pragma once
// Throughput against latency: what a device gives each batch, and what no other configuration beats.

#include <string>

#include "ai/llm_forecast/forecast_report.h"

namespace perfcast::ai {

// One SVG file that stands alone, in light and dark. x: time per output token (of encoders: of the batch), y: tokens/s,
// both logarithmic; a line for each device and tensor-parallel degree over the batches, at the shortest prompt of the
// sweep; what doesn't fit is left out; filled marks are those that no other one beats in both. "nothing-to-draw" where
// nothing fits.
Result<std::string> pareto_svg(const LlmForecastReport& report);

}  // namespace perfcast::ai
