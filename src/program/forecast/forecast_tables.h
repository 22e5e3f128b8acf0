#pragma once
// A forecast's rows, each column declared once for JSON and for people.

#include <utility>
#include <vector>

#include "base/report/table.h"
#include "program/forecast/forecast.h"

namespace perfcast::program {

using PlacedInstance = std::pair<const PlatformRow*, const InstanceRow*>;

ReportTable platform_table(const ForecastReport& report);
// Columns as JSON has them; instance_table_for_people() has those that people read, in their order.
ReportTable instance_table(const std::vector<PlacedInstance>& instances);
ReportTable instance_table_for_people(const ForecastReport& report, const std::vector<PlacedInstance>& instances);

// "0.1785" as it was given; a price of three digits has two decimals.
std::string price_text(double price);

}  // namespace perfcast::program
