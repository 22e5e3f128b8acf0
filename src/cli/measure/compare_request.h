#pragma once
// What the command line of `compare` says, as requests.

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "measure/compare/comparison.h"
#include "measure/compare/revision_comparison.h"
#include "measure/compare/sessions.h"

namespace perfcast::cli {

struct CompareArguments {
  std::string a, b, budget = "60s", limit, threshold = "1%", log, measure = "wall", between_sessions;
  std::string host_a, host_b, profile, kind = "application";  // of --across
  std::vector<std::string> earlier;                           // likewise
  bool across = false;
  std::string build, build_limit, trees;
  std::vector<std::string> at;
  double error = 0.05;
  int warmups = 1, counted_runs = 2;
  AroundRun around;
  bool accept_failure = false, markdown = false, bisect = false, measure_given = false, time_limit_given = false;

  bool by_counts() const { return measure == "instructions"; }
};

// Options and commands; A or B that is a file stays without a command. Errors: usage.
Result<measure::CompareRequest> compare_request(const CompareArguments& arguments, const CommonOptions& options);

// --between-sessions, --error and --threshold, for files.
Result<measure::SessionRequest> session_request(const CompareArguments& arguments);

// --build, --at and --trees, but for the revisions and the trees themselves. Errors: usage.
Result<measure::RevisionRequest> revision_request(const CompareArguments& arguments, const CommonOptions& options);

// Grows by a line for each run, so that nothing is lost.
class RunLog {
 public:
  RunLog() = default;
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;
  Status open_at(const std::string& path);
  Status add(const measure::ComparedRun& run);

 private:
  Status failed() const;
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace perfcast::cli
