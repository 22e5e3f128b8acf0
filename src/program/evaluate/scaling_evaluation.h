#pragma once
// How well throughputs of whole servers full of copies are forecast from the time of one copy on their CPU model, known
// or forecast too, each program family left out of what is fitted.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "program/evaluate/one_copy_forecast.h"
#include "program/evaluate/scores.h"
#include "program/model/scaling/scaling_fit.h"

namespace perfcast::program {

struct ScalingRow {
  std::string group;     // kScalingGroups, "all", kAllCoresGroup
  std::string forecast;  // what was done
  // Of the throughput of a copy over the servers, as forecast; and relative to the program's mean over them, which
  // tells servers apart whatever the program's own level.
  Scores absolute, relative;
  // At one price for every vCPU: true cost of the server with the least forecast cost over the least true cost, over
  // the programs.
  double regret_median = 0, regret_90 = 0;
};

// Scores of logs of throughputs, programs by servers. `log_of_a_vcpu`: what makes of them the throughput of one vCPU.
ScalingRow scaling_row(const std::string& group, const std::string& forecast, const ScoreInput& input,
                       const Eigen::MatrixXd& log_of_a_vcpu);

struct ScalingEvaluation {
  std::vector<ScalingRow> rows;  // by group, baselines first
  int64_t programs = 0, families = 0, machines = 0, classes = 0;
  std::vector<std::string> faulty;  // servers left out
};

// Takes about a minute on the public set, and half a minute more with `one_copy`: for each of them rows with its times
// in place of the known ones, of which the mean over the servers alone is kept; its programs are of no known group
// then, as those that a forecast is asked for.
Result<ScalingEvaluation> evaluate_scaling(const ScalingFit& fit, const std::vector<OneCopyForecast>& one_copy = {});

Json to_json(const ScalingEvaluation& evaluation);         // perfcast.scaling_evaluation/1
std::string to_text(const ScalingEvaluation& evaluation);  // for a person

}  // namespace perfcast::program
