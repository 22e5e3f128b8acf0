#pragma once
// Parts of the evaluation that need no planted faults in records: the Numenta benchmark, generated streams with faults,
// and streams without, each with the detector as it comes.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "studies/output.h"

namespace perfcast::measure::watch_study {

struct PartOptions {
  double false_alarms = 0;  // a day; 0: as perfcast has it by itself
  uint64_t seeds = 0, first_seed = 1;
  int threads = 1;
  bool verbose = false;
};

Status add_nab(const std::string& folder, const PartOptions& options, StudyOutput& output);
Status add_generated(const PartOptions& options, StudyOutput& output);
Status add_faultless(const PartOptions& options, StudyOutput& output);

}  // namespace perfcast::measure::watch_study
