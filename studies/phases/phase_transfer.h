#pragma once
// Time and power of the phases of a program on one platform, from its counters, time and power on another: learnt from
// the other programs.

#include <string>
#include <vector>

#include "base/result.h"
#include "studies/phases/recorded_runs.h"

namespace perfcast::measure::phases_study {

struct TransferScores {
  size_t programs = 0, phases = 0;
  std::vector<std::string> other_work;  // programs whose instructions differ between the platforms, left out
  // Mean absolute percentage errors as ratios: of phases by their share of their program, each program alike; and of
  // whole programs. `mean`: the source's rate times the mean ratio of the other programs. `floor`: a repeated run on
  // the target; not a number where there is none.
  struct Errors {
    double phase = 0, whole = 0;
  };
  Errors time, time_mean, time_floor, power, power_mean, power_floor, energy, energy_mean;
};

// `with_time`: false where the same program is not the same work (services under load).
Result<TransferScores> score_transfer(const RecordedSet& set, const std::string& from, const std::string& to,
                                      bool with_time);

}  // namespace perfcast::measure::phases_study
