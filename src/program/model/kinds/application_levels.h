#pragma once
// What applications take on each platform, from applications alone:
//   log time = the program's offset + the platform's level + its inputs x the platform's slopes + rest.
// Levels come from every application that was timed, also from those without a profile; slopes from those with one.
// Both are estimated as random effects (Henderson, Biometrics 31, 1975): the level is drawn to what all programs take
// on the platform, and levels and slopes to those of the platforms of the same core design, slopes of designs to 0. So
// what few programs say weighs little. Each source of times has its own noise, estimated from what is left.

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"

namespace perfcast {
class TensorMap;
}  // namespace perfcast

namespace perfcast::program {

// The group whose programs are whole applications.
inline constexpr const char* kApplicationGroup = "application";

class ApplicationLevels {
 public:
  // inputs: [table.programs.size() x K] standardised, K may be 0; `common`: [J] log RPV of all programs, what levels
  // are drawn to. How far slopes may be from their design's is chosen by leaving out families of applications in
  // turns. Applications are the programs of kApplicationGroup; there are some with times.
  void fit(const TrainingTable& table, const Eigen::MatrixXd& inputs, const Eigen::VectorXd& common);

  // [N x K] -> [N x J] log RPV, rows about 0.
  Eigen::MatrixXd predict(const Eigen::MatrixXd& inputs) const;
  const Eigen::VectorXd& level() const { return level_; }    // J
  const Eigen::MatrixXd& slopes() const { return slopes_; }  // K x J, rows about 0

  void save(TensorMap& tensors) const;
  // "bad-bundle" where tensors are absent or not of `inputs` inputs.
  Status load(const TensorMap& tensors, int64_t inputs);

 private:
  Eigen::VectorXd level_;
  Eigen::MatrixXd slopes_;
};

}  // namespace perfcast::program
