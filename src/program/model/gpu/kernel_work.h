#pragma once
// What one launch of a GPU or OpenCL kernel does, in numbers that several tools count.

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "machine/gpu/occupancy.h"
#include "profile/profile.h"

namespace perfcast::program {

struct KernelWork {
  double items = 0;         // work items (threads)
  double instructions = 0;  // over all of them
  // AIWC: four bytes for each address that it uses. NVIDIA's profilers: what moves at the second-level cache. Models
  // learn what a byte costs from one or the other.
  double memory_bytes = 0;
  // Groups (thread blocks), and what each needs of a multiprocessor; absent: not counted.
  struct Groups {
    double count = 0;
    GroupShape shape;
  };
  std::optional<Groups> groups;
};

// From the features of AIWC, which profiles of OpenCL programs have, or else from the metrics of NVIDIA's profilers.
// Absent: the profile has neither, or not all that is needed.
std::optional<KernelWork> kernel_work(const Profile& profile);

// Counts of NVIDIA's profilers that a kernel lacks.
struct KernelGap {
  std::vector<std::string> metrics;
  std::string assumed;  // what kernel_work() takes in their place, in words; empty: nothing can be, so it is absent
};
std::vector<KernelGap> kernel_gaps(const MetricValues& metrics);  // none of a kernel with features of AIWC

// For files: [kernels x 7], what is absent is 0 groups.
Eigen::MatrixXd as_matrix(const std::vector<KernelWork>& works);
std::vector<KernelWork> works_of(const Eigen::MatrixXd& rows);
inline constexpr Eigen::Index kWorkColumns = 7;

}  // namespace perfcast::program
