#pragma once
// Which programs to run on a new platform next: those that tell most of the others per second that they run.

#include <Eigen/Core>
#include <vector>

namespace perfcast::program {

struct ChosenProgram {
  Eigen::Index program = 0;
  double seconds = 0;           // that it is expected to run
  double deviation_before = 0;  // root mean square over all programs, log time
  double deviation_after = 0;   // once it is measured
};

// covariance: over programs, of what is unknown; seconds: expected of each, NaN or 0: can't be run. Greedy: each choice
// has most mutual information with each other program that isn't chosen, summed by `weight`, per second. Ties go to the
// first. Fewer than `count` where no more can be run.
std::vector<ChosenProgram> choose_programs(const Eigen::MatrixXd& covariance, const Eigen::VectorXd& weight,
                                           const Eigen::VectorXd& seconds, double noise_log, size_t count);

}  // namespace perfcast::program
