#pragma once
// What a run of a busy program shows, for tests of rules.

#include <string>
#include <vector>

#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {

// One thread that was busy for a second.
inline Observation busy() {
  Observation seen;
  seen.run.exit_code = 0;
  seen.run.wall_s = 1;
  seen.run.user_s = 1;
  seen.run.threads = 1;
  seen.samples_count = 1000;
  seen.role_share[static_cast<size_t>(CodeRole::kOwn)] = 1;
  seen.has_starts = true;
  seen.programs_started_count = 1;
  seen.looks = 50;
  seen.first_thread.s[0] = 1;
  seen.threads.s[0] = 1;
  return seen;
}

inline void set_role(Observation& seen, CodeRole role, double share) {
  seen.role_share[static_cast<size_t>(CodeRole::kOwn)] -= share;
  seen.role_share[static_cast<size_t>(role)] += share;
}

inline Evidence evidence_of(const Observation& seen) {
  Evidence evidence(seen);
  evidence.costs = {.system_call_s = 200e-9, .page_fault_s = 500e-9, .process_start_s = 1e-3};
  evidence.cpus_count = 2;
  return evidence;
}

inline std::vector<std::string> causes_of(const std::vector<Finding>& findings) {
  std::vector<std::string> causes;
  causes.reserve(findings.size());
  for (const Finding& finding : findings) causes.push_back(finding.cause);
  return causes;
}

inline HotFunction of_library(const std::string& name, const std::string& library, double share) {
  HotFunction function;
  function.function = name;
  function.library = library;
  function.cpu_share = share;
  return function;
}

}  // namespace perfcast::measure
