#pragma once
// The counts that the Oclgrind plugin writes, one file for each process; plugin/README.md describes them.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace perfcast {

// Of one process, or of several joined.
struct KernelCounts {
  std::map<std::string, double, std::less<>> counts;  // of the whole: transfers, CPU seconds
  double errors = 0, races = 0;                       // that Oclgrind reported
  std::string first_error;
  bool cut = false;        // the time limit ended it
  std::string cut_kernel;  // whose launch was running then; empty: none
  std::vector<ProfileKernel> kernels;
};

// Errors: "bad-kernel-counts", "future-version". A launch that was cut stands for its whole by the groups that were
// done; its features that do not grow with groups are left out.
Result<KernelCounts> parse_kernel_counts(std::string_view text, const std::string& source);

// Adds up; kernels of one name are one.
void join(KernelCounts& sum, const KernelCounts& other);

// By catalogue name: of the whole run.
MetricValues run_metrics(const KernelCounts& counts);

}  // namespace perfcast
