#pragma once
// How likely a program is a whole application, by its profile: logistic regression (Hastie, Tibshirani & Friedman, The
// Elements of Statistical Learning, section 4.4) with a ridge penalty, on shares of textbook time and on how much code
// and memory the program touches. Each family of programs weighs alike.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/fit/standardiser.h"
#include "program/corpus/corpus.h"

namespace perfcast {
class TensorMap;
}  // namespace perfcast

namespace perfcast::program {

class KindOfProgram {
 public:
  // F names: "share_..." as work_feature_names() has them, and "log_<counter>".
  static const std::vector<std::string>& inputs();
  // [N x F]; absent is NaN.
  static Eigen::MatrixXd extract(const std::vector<const Profile*>& profiles);

  // A table of applications alone, or of none, gives a share of 1 or 0 for every program.
  void fit(const TrainingTable& table);
  // How far each counts as an application, 0 to 1: the probability, sharpened.
  Eigen::VectorXd share(const std::vector<const Profile*>& profiles) const;  // N
  // What each input adds to the log odds of one profile over those of another: F.
  Eigen::VectorXd log_odds_change(const Profile& own, const Profile& reference) const;

  void save(TensorMap& tensors) const;
  Status load(const TensorMap& tensors);

 private:
  Standardiser standardiser_;
  Eigen::VectorXd coefficients_;  // F
  double intercept_ = 0;          // of the log odds
};

}  // namespace perfcast::program
