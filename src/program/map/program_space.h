#pragma once
// Programs as points: what models see of their profiles, standardised as the kernel model has it; and how far apart two
// programs are, by their profiles and by their times.

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "program/corpus/corpus.h"
#include "program/model/features/model_inputs.h"
#include "program/model/fit/standardised_inputs.h"

namespace perfcast::program {

struct ProgramSpace {
  ModelInputs inputs;
  Standardiser standardiser;
  Eigen::MatrixXd rows;         // [P x F] of the programs that it was made of; absent is NaN
  Eigen::VectorXd weights;      // [P] 1 / members of the program's family: each family weighs the same
  std::vector<int64_t> family;  // [P] index, by first appearance
  // Largest distance to another family that 95% of the families' programs keep to: beyond it a program is like none of
  // these. 0: there is one family.
  double usual_distance = 0;

  // [profiles x F] in the same scale.
  Eigen::MatrixXd place(const std::vector<const Profile*>& profiles) const;
};

// `programs` and `profiles` are of one length, one at least.
ProgramSpace make_program_space(const std::vector<Program>& programs, const std::vector<const Profile*>& profiles,
                                const InputChoice& inputs);

// [a x b] root mean square of the differences over the inputs that both have: 1 is one standard deviation in each. NaN
// where they share none.
Eigen::MatrixXd profile_distances(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

// [a x b] the kernel model's similarity, exp(-decay x mean squared difference), absent inputs at the mean: between 0
// and 1, positive semidefinite.
Eigen::MatrixXd profile_similarity(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

// [P x P] root mean square over the platforms that both were timed on of the difference of their log relative times,
// relative to the mean over those platforms; NaN where they share fewer than two. 0.05: 5%. `log_times`: NaN: absent.
Eigen::MatrixXd time_distances(const Eigen::MatrixXd& log_times);

}  // namespace perfcast::program
