#pragma once
// Why a program is slow here, and what would help: seen from outside first, then by counts, then proven.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/diagnose/bloat/code_bloat.h"
#include "measure/diagnose/find/finding.h"
#include "measure/diagnose/find/machine_costs.h"
#include "measure/diagnose/find/rules.h"
#include "measure/diagnose/observe/observation.h"
#include "measure/diagnose/roofline/roofline.h"
#include "profile/core/design.h"
#include "profile/profile.h"

namespace perfcast::measure {

struct DiagnosisRequest {
  std::vector<std::string> command;
  bool with_counts = true;  // an instrumented run, for caches and branches
  bool with_bloat =
      false;  // which code is loaded, and what of it runs: the instrumented run is that of the whole program
  bool for_forecast = false;   // counts that forecasts need, too: models of all cores
  double proof_budget_s = 60;  // 0: nothing is tried
  double limit_s = 0;          // of each run; 0: none
  AroundRun around;            // of each run, of the command as it is or otherwise
  bool pass_output = false;    // of the first run
  uint64_t seed = 1;
  std::string rebuild, source;  // a build's command with {flags} in it, and the folder that it runs in; empty: none
  std::string threads;          // "auto" or numbers, that the command is run with; empty: none
  std::shared_ptr<const std::vector<CoreDesign>> core_designs;  // of all known cores; null: nothing is modelled
  std::function<void(const std::string&)> progress;
  // Called with what the native run shows, before anything slow.
  std::function<void(const std::vector<Finding>&)> first_findings;
};

struct Diagnosis {
  std::vector<std::string> command;
  Observation seen;
  MachineCosts costs;
  std::string design;                     // of this machine's core; empty: not known, or not modelled
  std::map<std::string, double> bounds;   // shares of the modelled cycles by what bounds them; empty: not modelled
  std::vector<Finding> findings;          // largest gain first
  double cpus_count = 1;                  // that the program may use
  std::optional<ThreadCurve> curve;       // where other numbers of threads were asked for
  std::vector<SharedPlace> shared_lines;  // written by several threads, as far as it was counted
  // CPUs that were busy over those that there are; absent where one thread ran.
  std::optional<double> parallel_efficiency_ratio() const;
  std::optional<Profile> profile;          // where it was counted
  std::optional<Roofline> roofline;        // likewise
  std::optional<CodeBloat> bloat;          // where it was asked for
  std::vector<std::string> notes;          // what could not be done, and why
  double first_finding_s = 0, took_s = 0;  // since the start
};

// Errors: observe()'s; "program-failed" where the program fails; Rebuilder::create()'s, parse_thread_counts()'s.
Result<Diagnosis> diagnose(const DiagnosisRequest& request);

}  // namespace perfcast::measure
