#pragma once
// What one copy of a program asks of what copies share, by its profile. Counts are per unit of work: of a whole run, or
// of the unit that its times are of.

#include <Eigen/Core>
#include <vector>

#include "profile/profile.h"

namespace perfcast::program {

// Lines that a fully associative cache of so many bytes misses, linear in the logarithm of the size, flat beyond the
// simulated sizes (32 KiB to 64 MiB).
class MissCurve {
 public:
  MissCurve() = default;
  // Metrics miss_<size>_<kind>count, summed over the kinds; NaN everywhere where one is absent.
  MissCurve(const MetricValues& metrics, const std::vector<const char*>& kinds, double units);
  double operator()(double bytes) const;

 private:
  std::vector<double> counts_;
};

struct ProgramLoad {
  double instructions = 0;
  double kernel_ratio = 0;        // of its CPU time
  double float_ratio = 0;         // floating-point operations per instruction
  double mispredicted_ratio = 0;  // branches per instruction
  double page_faults = 0;
  MissCurve reads, random_reads, writes;
};

// NaN where a profile lacks a counter; models take no such program.
ProgramLoad load_of(const Profile& profile, double units_of_work);
bool is_known(const ProgramLoad& load);

}  // namespace perfcast::program
