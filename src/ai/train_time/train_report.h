#pragma once
// Time to a quality as text, as JSON (schema perfcast.bench.train/1) and as a page with a picture of metric against
// time.

#include <map>
#include <string>
#include <vector>

#include "ai/train_time/train_comparison.h"
#include "base/json_fwd.h"

namespace perfcast::ai {

struct TrainReport {
  std::string metric;
  std::string benchmark, quality;  // of the field, that metric and threshold are of; empty: of none
  TrainComparison comparison;
  std::vector<TrainCurve> curves;
  std::map<std::string, std::vector<std::string>> commands;  // of the systems that were run
  std::vector<std::string> no_meter;  // why there is no meter, where something was run without any
  std::string record;                 // file of what was run; empty: nothing was
  std::vector<std::string> notes;
};

// "350 ms", "12.5 min", "4 h 42 min", "3 d 5 h".
std::string training_time_text(double time_s);

std::string train_report_text(const TrainReport& report);
Json train_report_json(const TrainReport& report);
std::string train_report_page(const TrainReport& report);

}  // namespace perfcast::ai
