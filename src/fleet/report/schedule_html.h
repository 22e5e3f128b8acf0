#pragma once
// A schedule's report as one HTML file: no network, no script, for light, dark and printed pages.

#include <string>

#include "fleet/compare/error_sweep.h"
#include "fleet/report/schedule_report.h"

namespace perfcast::fleet {

// Deterministic; all text from outside is escaped. An empty sweep has no figure.
std::string schedule_html(const ScheduleReport& report, const ErrorSweep& sweep = {});

}  // namespace perfcast::fleet
