#pragma once
// Experiments that show whether a finding is right: the command otherwise, in turns with the command as it is.

#include <functional>
#include <string>
#include <vector>

#include "base/process/process.h"
#include "base/result.h"
#include "measure/diagnose/find/finding.h"
#include "measure/diagnose/prove/rebuild.h"

namespace perfcast::measure {

struct ProofRequest {
  std::vector<std::string> command;
  double budget_s = 60;  // for all experiments
  double run_s = 0;      // how long the command takes, roughly
  double cpus_used = 1;  // on average, while it ran
  double limit_s = 0;    // of one run; 0: none
  // One thread computes all the time, and other programs take CPUs: its own CPU time is what a remedy changes.
  bool by_cpu_time = false;
  AroundRun around;  // of every run
  uint64_t seed = 1;
  Rebuilder* rebuilder = nullptr;  // null: nothing is compiled anew
  std::function<void(const std::string&)> progress;
};

// Tries the findings' experiments, those of the largest gains first, and writes down what came of them. Each is looked
// at by two pairs of runs; what these show no gain of is left at that, the others are run in turns until it is clear.
// A trial that takes the cause away bounds its finding's gain: Finding::contradiction() says where nothing is left of
// it. Findings that only an experiment can show take their gain from it, and go where there is none. A program that was
// compiled anew must print what the user's prints, or no gain is claimed; what its build takes is not of the budget.
// What a run of the command writes, each run writes again. Errors: "interrupted".
Status prove_findings(const ProofRequest& request, std::vector<Finding>& findings);

}  // namespace perfcast::measure
