#pragma once
// time(kernel, device) = launch + sqrt(latency^2 + arithmetic^2 + memory^2): costs that hide each other in part. Each
// is what the device's facts give (textbook) x a factor; log factor = common + kind of device + architecture + device,
// each with a Gaussian prior about 0. So a device that nobody measured has the factors of its architecture, of its
// kind, or those of all.
//
//   launch      10 microseconds
//   latency     4 cycles for each instruction of a work item, x rounds: groups over those that run at a time
//   arithmetic  instructions of all work items / (lanes x clock)
//   memory      bytes / bandwidth of the device's memory

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "machine/facts/platform.h"
#include "program/model/fit/targets.h"
#include "program/model/gpu/kernel_work.h"

namespace perfcast::program {

inline constexpr Eigen::Index kKernelCauses = 4;
const std::vector<std::string>& kernel_cause_names();  // as above

class DeviceCosts {
 public:
  // works: of the targets' rows named by `rows`. Fitted to absolute times; that of a row's mean over the devices counts
  // less than those about it.
  void fit(const std::vector<KernelWork>& works, const std::vector<Eigen::Index>& rows, const Targets& targets,
           const std::vector<Platform>& devices);

  int64_t devices() const { return own_.cols(); }
  // [works x devices] log seconds on the devices of the fit.
  Eigen::MatrixXd log_seconds(const std::vector<KernelWork>& works) const;
  // [works x devices.size()] log seconds on devices by their facts, architecture and kind alone, whether they were
  // measured or not. A fact that isn't stated is the median of the devices of the fit.
  Eigen::MatrixXd log_seconds_on(const std::vector<Platform>& devices, const std::vector<KernelWork>& works) const;
  // Standard deviation, log, of what isn't known of a device that nobody measured: more without its architecture.
  double deviation_of(const Platform& device) const;
  // [kKernelCauses] shares of the time on a device of the fit; the last three by their squares.
  Eigen::VectorXd shares(const KernelWork& work, int64_t device) const;

  Json to_json() const;
  // "bad-bundle".
  Status read_json(const Json& json);

 private:
  // Amounts a second, of a device.
  struct Rates {
    double hz = 0, lanes_hz = 0, bytes_per_s = 0;
    double units = 0;                     // 0: not known; then rounds aren't either
    const GroupLimits* limits = nullptr;  // likewise
  };
  Rates rates_of(const Platform& device) const;
  static Eigen::Vector4d textbook_seconds(const KernelWork& work, const Rates& rates);
  Eigen::Vector4d log_factors_of(const Platform& device) const;  // of what isn't the device's own

  std::vector<Rates> rates_;  // of the devices of the fit
  Rates usual_;               // medians of the facts that are stated
  Eigen::Vector4d common_ = Eigen::Vector4d::Zero();
  std::map<std::string, Eigen::Vector4d> kinds_, architectures_;  // by name
  Eigen::MatrixXd own_;  // [kKernelCauses x devices] log factors, all levels together
};

}  // namespace perfcast::program
