#pragma once
// Results of load tests side by side, with what their tools define differently.

#include <string>
#include <vector>

#include "ai/results/load_run.h"
#include "base/json_fwd.h"

namespace perfcast::ai {

inline constexpr const char* kLoadRunsSchema = "perfcast.bench.runs/1";

struct LoadRunsReport {
  std::vector<LoadRun> runs;
  struct Unread {
    std::string file, why;
  };
  std::vector<Unread> unread;           // files that are no such results
  std::vector<std::string> notes = {};  // runs that are left out
};

std::string load_runs_text(const LoadRunsReport& report);
Json load_runs_json(const LoadRunsReport& report);

}  // namespace perfcast::ai
