#pragma once
// Figures of simulated services as columns, declared once for text, CSV and JSON.

#include <string>
#include <vector>

#include "ai/serving/serving_forecast.h"
#include "base/report/table.h"

namespace perfcast::ai {

enum class ServingForm : uint8_t { kText, kJson, kCsv };

ReportTable serving_table(const ServingResult& result, ServingForm form);
// One row's figures below each other, with intervals: the least and the most of the forecast and of both ends.
std::string figures_text(const ServingRow& row);
ReportTable objective_table(const std::vector<ObjectiveOutcome>& outcomes);

}  // namespace perfcast::ai
