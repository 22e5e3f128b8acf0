#pragma once
// Published results compared, as text, as JSON (schema perfcast.bench.results/1) and as a page with a picture.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ai/results/result_query.h"
#include "ai/results/result_scores.h"
#include "ai/results/result_tables.h"
#include "base/json_fwd.h"

namespace perfcast::ai {

struct ResultsReport {
  std::vector<std::string> sources;
  std::string division;
  std::map<std::string, size_t> divisions;  // rows of each, of all sources
  size_t results = 0;                       // of the division, and what else was chosen
  size_t with_rate = 0, with_power = 0;     // of these
  size_t systems_with_power = 0;
  std::vector<TaskTable> tables;
  std::vector<ResultRow> rows;  // what forecasts are learned from
  std::optional<ResultScores> scores;
  std::vector<ForecastResult> forecasts;
  std::optional<KeptApart> kept_apart;
  std::vector<std::string> notes;  // of the sources
};

// `most`: accelerators of each model and scenario that are listed; those left out are counted.
std::string results_report_text(const ResultsReport& report, size_t most);
Json results_report_json(const ResultsReport& report);
// Forecast against measurement of every left-out result; the page needs scores.
std::string results_report_page(const ResultsReport& report);

}  // namespace perfcast::ai
