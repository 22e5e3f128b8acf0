#pragma once
// A bundle with one more platform: from its facts, and from as many measured programs as there are.

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/model/adapt/program_choice.h"
#include "program/model/adapt/transfer_prior.h"
#include "program/model/bundle/bundle.h"

namespace perfcast::program {

// A program of the bundle, timed on the new platform.
struct ProgramRun {
  Eigen::Index program = 0;      // index among the bundle's
  double log_relative_time = 0;  // log of its time over the geometric mean of the platforms that it was timed on
};

// What is known of the programs on the new platform, step by step.
class PlatformAdaptation {
 public:
  // "too-few-platforms" where the bundle has too few to learn from; "known-platform" where it has one of that name.
  static Result<PlatformAdaptation> start(const Bundle& bundle, const Platform& platform,
                                          const TransferOptions& options);

  // Replaces what was measured before; each program once.
  void measure(const std::vector<ProgramRun>& runs);

  const Platform& platform() const { return platform_; }
  size_t nearest() const;                           // index of the known platform with the nearest facts
  const Gaussian& prior() const { return prior_; }  // over the bundle's programs: log relative time
  const Gaussian& posterior() const { return posterior_; }
  const std::vector<ProgramRun>& runs() const { return runs_; }
  // Whether the runs forecast each other better than the facts do, and what is kept of them for programs that were not
  // run: where they tell nothing, the prior with its intervals.
  const TransferCheck& check() const { return check_; }
  const Gaussian& kept() const { return kept_; }
  const Eigen::VectorXd& kept_half_widths() const { return kept_half_widths_; }
  // [programs] half widths of 90% intervals of log relative times: from facts alone, and with what was measured.
  const Eigen::VectorXd& prior_half_widths() const { return prior_half_widths_; }
  const Eigen::VectorXd& half_widths() const { return half_widths_; }
  // `seconds` of a run of each program on the new platform; NaN: can't be run here.
  std::vector<ChosenProgram> suggest(const Eigen::VectorXd& seconds, size_t count) const;

  // The bundle with the platform as its last: forecasts, intervals and training times of the known ones stay, but for
  // the mean that they are relative to.
  Bundle finish() const;

 private:
  PlatformAdaptation(const Bundle& bundle, const Platform& platform, TransferPrior transfer,
                     const TransferOptions& options);

  Bundle bundle_;
  Platform platform_;
  TransferPrior transfer_;
  TransferOptions options_;
  Gaussian prior_, posterior_, kept_;
  TransferCheck check_;
  std::vector<ProgramRun> runs_;
  Eigen::VectorXd prior_half_widths_, half_widths_, kept_half_widths_;
};

}  // namespace perfcast::program
