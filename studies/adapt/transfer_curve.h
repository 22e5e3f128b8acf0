#pragma once
// How far times on a new platform are forecast from k programs that were run there: each core design (of GPUs: each
// generation) is left out with all its platforms, everything is learned and chosen on the others.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "program/corpus/corpus.h"
#include "program/model/adapt/transfer_prior.h"
#include "studies/adapt/transfer_networks.h"

namespace perfcast::program::adapt_study {

struct CurveOptions {
  std::vector<size_t> counts = {0, 1, 2, 5, 10, 20, 40};
  int seeds = 10;
  uint64_t seed = 1;
  int threads = 1;
  // Programs are drawn among those of the group that is scored alone, instead of among all.
  bool own_group = false;
  int networks = 0;  // seeds of networks, taken in turns by the draws; 0: no networks
  NetworkOptions network;
  // What networks, and models of kernels' costs, see of each program: the first of its profiles that was taken on no
  // platform left out. Empty: the table's, which must be of none of them.
  std::vector<std::vector<const Profile*>> profiles;
  std::string only_design;  // the only one to leave out, as platform_design() has it; empty: each in turn
  size_t each_platform =
      0;  // n: each n-th platform is left out alone, others of its design stay; 0: designs are left out
  TransferOptions transfer;
  Eigen::VectorXd run_units;  // of each program of the table: units of work of a run; NaN: can't be run, or unknown
};

// Of one method, group of programs ("" : all) and number of measured programs.
struct CurvePoint {
  std::string method, group;
  size_t count = 0;
  double median_error = 0;  // of |exp(forecast - measured) - 1| over programs that were not measured; seeds together
  double spread = 0;        // standard deviation of the same over seeds; NaN with one
  double mean_error = 0;
  double r2_log = 0;        // of log time, about its mean on each platform
  double least_r2_log = 0;  // of the platform that is forecast worst
  double coverage_90 = 0;   // NaN: no intervals
  double seconds = 0;       // running time of the measured programs, median over platforms and seeds; NaN: unknown
  int64_t entries = 0;
};

struct TransferCurve {
  std::vector<CurvePoint> points;
  size_t platforms = 0, designs = 0, programs = 0;
  std::vector<std::string> network_choices;  // of each design left out: what its inner folds chose
};

// Methods: "mean of platforms", "nearest by facts", "ridge on facts" (each moved by what the measured programs say on
// average), alike what the mean says scaled by a fact, of GPUs "peak FLOP/s" and "bandwidth", of CPUs "first cache's
// bandwidth"; "adapt", random programs, "adapt, suggested": as
// choose_programs() has them, and "network, fine-tuned", "network, meta-learnt" (transfer_networks.h), where there are
// any.
Result<TransferCurve> transfer_curve(const TrainingTable& table, const CurveOptions& options);

}  // namespace perfcast::program::adapt_study
