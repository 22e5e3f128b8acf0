#pragma once
// What a person should know before the forecasts of a table are believed: machines and settings that the model has no
// samples of.

#include <string>
#include <vector>

#include "measure/power/model/power_model.h"
#include "measure/power/table/power_table.h"

namespace perfcast::measure {

// A line for each machine that the model doesn't know, or knows at other frequencies or numbers of cores, and for
// shares whose unit the model tells (ActivityFeatures::percent_by_model). Machines are compared whole: "node10" is not
// "node1".
std::vector<std::string> unseen_settings(const PowerModel& model, const PowerTable& table);

}  // namespace perfcast::measure
