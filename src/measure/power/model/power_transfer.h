#pragma once
// Power of a machine that has given no or few samples, from what the others have in common.

#include <cstdint>
#include <map>
#include <vector>

#include "measure/power/model/power_form.h"
#include "measure/power/model/shared_line.h"

namespace perfcast::measure {

struct TransferSetting {
  SharedLineOptions line;
  double prior_factor = 1;  // of the spread of the known groups, of which there are few
  double noise_factor = 1;  // of the error of one sample
};

enum class TransferMethod {
  kUpdated,  // what is shared, updated by the samples as Bayes has it
  kShifted,  // what is shared, times one factor
  kAlone,    // a line on the samples alone
};
const char* to_text(TransferMethod method);

class PowerTransfer {
 public:
  struct Request {
    std::vector<size_t> known;  // rows of the groups to learn from: two groups or more
    size_t samples = 0;         // how many the new group will give: the setting is chosen for it
    TransferMethod method = TransferMethod::kUpdated;
    double coverage = 0.9;
    uint64_t seed = 1;
  };
  // The setting is chosen by leaving out each known group in turn and drawing samples from it. Intervals are calibrated
  // on the same draws, each group counting alike (conformal.h); with fewer than nine groups they cover what the worst
  // of them needs. The setting was chosen on these draws, too, which makes them a little narrow. `samples` outlives the
  // result.
  static PowerTransfer learn(const PowerSamples& samples, const Request& request);

  struct Forecast {
    Eigen::VectorXd watts, lower, upper;  // one for each of `rows`
  };
  // Of rows of a new group that gave `given` (rows with watts, as many as were said or fewer).
  Forecast forecast(const std::vector<size_t>& given, const std::vector<size_t>& rows) const;
  // The line that these samples make of what is shared, to be kept: forecast() in closed form.
  UpdatedLine update(const std::vector<size_t>& given) const;

  const TransferSetting& setting() const { return setting_; }
  double inner_error() const { return inner_error_; }
  // The same of each known group, left out.
  const std::map<int, double>& group_errors() const { return group_errors_; }
  double half_width() const { return half_width_; }  // of the interval, of log watts: the median over what was left out
  double lowest() const { return lowest_; }          // forecasts of the log target stay between these
  double highest() const { return highest_; }

 private:
  const PowerSamples* samples_ = nullptr;
  TransferMethod method_ = TransferMethod::kUpdated;
  TransferSetting setting_;
  SharedLine line_;
  double inner_error_ = 0, interval_factor_ = 1.645, half_width_ = 0;
  std::map<int, double> group_errors_;
  double lowest_ = 0, highest_ = 0;
};

// `count` rows of `rows`, drawn by workload first, so that long workloads don't give most of them.
std::vector<size_t> drawn_samples(const PowerDesign& design, const std::vector<size_t>& rows, size_t count,
                                  uint64_t seed);

}  // namespace perfcast::measure
