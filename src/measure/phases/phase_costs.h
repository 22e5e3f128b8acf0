#pragma once
// What the time of a phase is forecast from: how often it does what takes time, per instruction.

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace perfcast::measure {

// Of a phase's counters; absent where what caches and predictors did is not known of it. All are at least 0; more of
// any never makes a program faster. What wasn't counted is not a number; so is the last, cycles of a model of this
// host's core, where no model was run.
std::optional<Eigen::VectorXd> phase_costs(const MetricValues& metrics);
// The same, of a phase of this profile, which says what is not known of the phase alone.
std::optional<Eigen::VectorXd> kind_costs(const Profile& profile, const MetricValues& metrics);
// Of one slice of a profile's phases: what was counted of it, and of its kind what is known of some slices only.
std::optional<Eigen::VectorXd> slice_costs(const Profile& profile, size_t slice);

// A phase whose native time is known.
struct PhaseExample {
  std::string program, command;  // of the profile
  size_t kind = 0;
  double instructions_count = 0, cpu_s = 0;
  std::optional<double> deviation_s;
  Eigen::VectorXd costs;
  double ns_per_instruction() const { return 1e9 * cpu_s / instructions_count; }
};

// The kinds of a profile's phases that can be learnt from: time and costs known, at least `least_ratio` of its time.
std::vector<PhaseExample> phase_examples(const Profile& profile, double least_ratio);

}  // namespace perfcast::measure
