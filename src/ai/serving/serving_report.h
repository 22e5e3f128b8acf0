#pragma once
// A simulated service for people and machines.

#include <string>
#include <vector>

#include "ai/serving/serving_forecast.h"
#include "base/json_fwd.h"

namespace perfcast::ai {

struct ServingReport {
  ServingResult result;
  std::vector<std::string> notes;
};
// With notes on what was measured, what isn't modelled, and what was refused; `notes` come first: of a trace.
ServingReport report_serving(ServingResult result, std::vector<std::string> notes = {});

// The answer first. One row: its figures with their intervals. Several: a table.
std::string serving_text(const ServingReport& report);
// A line for each row.
std::string serving_csv(const ServingReport& report);
// A page (HTML): times against load, how many requests run and wait over time, and the text.
std::string serving_page(const ServingReport& report);
// Schema perfcast.serving/1; absent figures are left out.
Json serving_json(const ServingReport& report);

// Requests of a run as lines of CSV; the first call's text has the header.
std::string request_times_csv(const ServingRequestFor& request, const ServingRow& row, const ServingTrace& trace,
                              const ServeRun& run, bool with_header);

}  // namespace perfcast::ai
