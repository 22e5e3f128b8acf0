#pragma once
// What known platforms say about the times of known programs on a new one: a Gaussian over the programs, to be updated
// with the few that were measured there.
//
// Prior mean: each program's log times over the known platforms carried over by a Gaussian process over facts of
// platforms (platform_kernel.h), its hyper-parameters, of each group of programs, those with the least mean |error|
// when each core design is left out in turn. Prior covariance: of what that missed on the designs left out, over pairs
// of programs, shrunk towards kinship of programs: so it says how a surprise on one program is shared by others.
// Updating is conditioning (Rasmussen & Williams, Gaussian Processes for Machine Learning, 2006, section 2.2; leaving
// blocks out in closed form: section 5.4.2 and Ginsbourger & Schaerer, arXiv:2101.03108).

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/model/adapt/platform_kernel.h"
#include "program/model/forecast/gaussian_conditioning.h"

namespace perfcast::program {

struct TransferOptions {
  int rounds = 1;  // of the search for hyper-parameters; 0: the kernel as it is
  int draws = 4;   // searches, the first over all designs, others over designs drawn; averaged
  uint64_t seed = 1;
  PlatformKernel kernel = {};   // to start from
  int64_t group_programs = 8;   // a group of fewer programs has the hyper-parameters of all
  double shrink = 0.3;          // share of the covariance that is taken from kinship
  double noise_log = 0.02;      // of a measured time, and of what is a program's own
  double far_design = 0.1;      // weight of what was missed on designs unlike the new one, besides their likeness
  double usual_miss_log = 0.1;  // designs that were missed by more weigh less
};

// Each of the measured programs forecast without it, from the facts alone and with the other programs' times: mean
// |log| of forecast over time. What is taken of the runs is the largest share, in quarters, with which that is not
// worse than from the facts by more than kWorseByChanceLog / programs: so few programs can't tell less from chance.
struct TransferCheck {
  static constexpr double kWorseByChanceLog = 0.1;
  size_t programs = 0;                                                 // that were checked; 0: too few to leave one out
  double facts_error_log = 0, runs_error_log = 0, kept_error_log = 0;  // kept: with that share
  double share = 1;
  bool gains() const { return share > 0; }
};

class TransferPrior {
 public:
  // log_times: [programs x platforms] natural logs, NaN: not measured, of one unit per program. said: the same by what
  // models of cores say of each program, rows about any mean, 0: nothing; empty: they say nothing of any. `known`: the
  // platforms to learn from, three at least ("too-few-platforms"), each program on one of them ("unmeasured").
  static Result<TransferPrior> learn(const std::vector<Platform>& platforms, const std::vector<size_t>& known,
                                     const Eigen::MatrixXd& log_times, const Eigen::MatrixXd& said,
                                     const std::vector<Program>& programs, const TransferOptions& options);

  // Over the programs: of log time on that platform, which is none of the known ones.
  Gaussian prior(size_t platform) const;
  // The same once the programs `where` took `log_times` there; noise as the options say.
  Gaussian update(const Gaussian& prior, const std::vector<Eigen::Index>& where,
                  const Eigen::VectorXd& log_times) const;
  // Of a program that was not measured: mean and covariance where so much of the update is taken.
  static Gaussian with_share(const Gaussian& prior, const Gaussian& updated, double share);
  TransferCheck check(const Gaussian& prior, const std::vector<Eigen::Index>& where,
                      const Eigen::VectorXd& log_times) const;
  // [programs] by which the standard deviations of update() have to be multiplied for intervals that cover `coverage`
  // of the entries of a platform whose design is left out, where the same programs were measured; one for each group.
  // `prior`: of the platform; `log_times`: as update().
  Eigen::VectorXd interval_multiples(const Gaussian& prior, const std::vector<Eigen::Index>& where,
                                     const Eigen::VectorXd& log_times, double coverage) const;

  // Weights over the known platforms, one kernel for all programs, and each program's times on them about their mean,
  // absent ones carried over.
  Eigen::VectorXd weights(size_t platform) const;
  Eigen::MatrixXd filled() const;                                  // [programs x known]
  const Eigen::VectorXd& program_means() const { return means_; }  // of log time over the known platforms
  const Eigen::MatrixXd& missed() const { return missed_; }        // [programs x known], NaN: not measured
  const std::vector<size_t>& known() const { return known_; }
  const PlatformLikeness& likeness() const { return likeness_; }

 private:
  TransferPrior(const std::vector<Platform>& platforms, const std::vector<size_t>& known,
                const std::vector<Program>& programs, const TransferOptions& options);
  using Kernels = std::vector<PlatformKernel>;  // averaged
  void choose_slopes(const Eigen::MatrixXd& log_times);
  void fill(const Eigen::MatrixXd& log_times);
  void choose_kernels();
  const Kernels& kernels_of(const std::string& group) const;
  Kernels search(const std::vector<Eigen::Index>& rows) const;
  PlatformKernel search(const std::vector<Eigen::Index>& rows, const Eigen::VectorXd& platform_weights) const;
  // platform_weights: [known], how often each counts.
  double left_out_error(const PlatformKernel& kernel, const std::vector<Eigen::Index>& rows,
                        const Eigen::VectorXd& platform_weights) const;
  // [rows x known] times less what the others say of each design left out.
  Eigen::MatrixXd left_out(const PlatformKernel& kernel, const std::vector<Eigen::Index>& rows) const;
  Eigen::VectorXd weights(const Kernels& kernels, size_t platform) const;
  // [platforms] by what factor measured programs are further from what the other measured ones say of them than the
  // prior has it (the scale of a multivariate t distribution). off: [where.size() x platforms], times less the prior's
  // mean.
  Eigen::RowVectorXd surprise_scales(const Gaussian& prior, const std::vector<Eigen::Index>& where,
                                     const Eigen::MatrixXd& off) const;
  Gaussian prior_of_few_designs() const;
  // What two programs share of a surprise without any platform to tell.
  double kinship(Eigen::Index p, Eigen::Index q) const;
  Eigen::MatrixXd covariance_for(size_t platform) const;
  // Variance of a measured log time.
  double own_noise() const { return options_.noise_log * options_.noise_log / 2; }

  TransferOptions options_;
  std::vector<size_t> known_;
  std::vector<Program> programs_;
  PlatformLikeness likeness_;
  std::vector<std::vector<Eigen::Index>> blocks_;  // columns of each known design
  size_t designs_count_ = 0;
  Eigen::MatrixXd present_;           // [programs x known] 1: measured
  Eigen::MatrixXd said_;              // [programs x platforms]
  Eigen::VectorXd slopes_;            // of each program: how much of what is said counts
  Eigen::MatrixXd carried_, missed_;  // [programs x known]: times without what is said, absent ones carried over
  Eigen::VectorXd means_;
  std::map<std::string, std::vector<Eigen::Index>> groups_;
  std::map<std::string, Kernels> kernels_;  // by group; "": of all
};

}  // namespace perfcast::program
