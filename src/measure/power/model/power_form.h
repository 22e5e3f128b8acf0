#pragma once
// Forms that a model of power can have, all on the same inputs: a line that groups share, idle power and costs that
// only add (LACross: Zheng, John & Gerstlauer, DAC 2016, has a non-negative lasso), plain least squares, a Gaussian
// process, boosted trees.

#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "measure/power/model/power_design.h"
#include "measure/power/model/shared_line.h"

namespace perfcast::measure {

// Samples as forms see them.
struct PowerSamples {
  PowerDesign design;
  InputScale scale;
  Eigen::MatrixXd inputs;  // [n x (F + 1)], standardised, the last column ones
  Eigen::VectorXd target;  // log(watts) - log_scale; NaN where watts are absent

  // The scale is learnt from `which`.
  static PowerSamples of(PowerDesign design, const std::vector<size_t>& which);
  static PowerSamples with_scale(PowerDesign design, InputScale scale);
};

// Rows that have watts, by group and workload.
using PowerCells = std::map<std::pair<int, int>, std::vector<size_t>>;
PowerCells cells_of(const PowerSamples& samples, const std::vector<size_t>& which);

// kUpdatedLine is never fitted: make_updated_line() has it from what was learnt of other groups.
enum class PowerFormKind { kSharedLine, kNonnegative, kLeastSquares, kKernel, kTrees, kUpdatedLine };
// "shared-line", "nonnegative", "least-squares", "gaussian-process", "trees", "updated-line"
const char* to_text(PowerFormKind kind);

struct PowerFormOptions {
  SharedLineOptions line;
  double penalty_share = 0.01;  // of the non-negative lasso: of the smallest penalty that leaves nothing
  // Of least squares: groups differ in their idle power only; relative errors count in place of watts.
  bool one_slope = false, relative = false;
  uint64_t seed = 1;
};

class PowerForm {
 public:
  virtual ~PowerForm() = default;
  virtual PowerFormKind kind() const = 0;
  // Rows of `which` that have watts; every cell (group, workload) weighs the same, with least squares every row.
  // Errors: those of the library that grows trees.
  virtual Status fit(const PowerSamples& samples, const std::vector<size_t>& which) = 0;
  // Log of watts as a multiple of the scale, one for each row of `which`.
  virtual Eigen::VectorXd forecast(const PowerSamples& samples, const std::vector<size_t>& which) const = 0;
  // Half the interval of each of these forecasts, where the form knows it itself; else empty.
  virtual Eigen::VectorXd half_widths(const PowerSamples& /*samples*/, const std::vector<size_t>& /*which*/) const {
    return {};
  }
  // Whether forecasts beyond the samples that it was fitted on are worth something.
  virtual bool extrapolates() const { return false; }
  virtual Json to_json() const = 0;
};

// Of any kind but kUpdatedLine, which has nullptr.
std::unique_ptr<PowerForm> make_power_form(PowerFormKind kind, const PowerFormOptions& options);
// `inputs`: F; `groups`: how many there are. "bad-json-field" where sizes or values can't be.
Result<std::unique_ptr<PowerForm>> power_form_from_json(const Json& json, const std::string& path, Eigen::Index inputs,
                                                        size_t groups);

// The line of one group, with how sure its coefficients are.
struct UpdatedLine {
  Eigen::VectorXd coefficients;  // [K], the last one of the ones
  Eigen::MatrixXd covariance;    // [K x K]
  double noise = 0;              // variance of one sample, of the log target
  double interval_factor = 0;    // half an interval over the deviation of a forecast
};
// For rows of any group. Its fit() fails with "not-fitted".
std::unique_ptr<PowerForm> make_updated_line(UpdatedLine line);

}  // namespace perfcast::measure
