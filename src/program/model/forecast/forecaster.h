#pragma once
// From a bundle and a profile to a forecast with intervals and a verdict: what `perfcast predict` prints.

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "program/model/bundle/bundle.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/forecast/gaussian_conditioning.h"
#include "program/model/forecast/host_spread.h"

namespace perfcast::program {

struct Neighbour {
  std::string program;  // id of a training program
  double distance = 0;  // root mean square difference over standardised features
};

// All vectors are over the bundle's platforms; logs are natural.
struct Forecast {
  Eigen::VectorXd log_rpv, lower, upper;  // lower, upper: of log RPV
  int64_t reference = -1;                 // platform index whose log_rpv is 0; -1: the mean over platforms is 0
  // The platform that the model says is the fastest apart from times, as long as no time was measured; -1: it says
  // none.
  int64_t best = -1;
  // Log seconds of a program run of relative time 1; absent without a measurement, unless the model says absolute
  // times.
  std::optional<double> log_seconds;
  double seconds_half_width = 0;  // log, 90%, of the seconds on a platform by the model itself; 0: by measured ones
  bool in_distribution = true;
  std::vector<ProfileWarning> warnings;  // why not in distribution, and what else to know
  std::vector<std::string> outside;      // codes of those that are why
  double distance = 0;                   // to the nearest training program
  std::vector<Neighbour> nearest;        // up to 3, nearest first
  Eigen::VectorXd half_width;            // against the mean over platforms
  Eigen::MatrixXd covariance;            // of log RPV errors, as far as known
};

class Forecaster {
 public:
  explicit Forecaster(std::shared_ptr<const Bundle> bundle);

  const Bundle& bundle() const { return *bundle_; }
  const HostSpread& host_spread() const { return *host_spread_; }

  // `measured`: log seconds of this very program on platforms by index. Error "bad-profile" where the profile lacks the
  // counters that forecasts are made of; "bad-measurement" as condition().
  Result<Forecast> forecast(const Profile& profile, const std::vector<Measurement>& measured) const;

  // The same forecast against a platform's time instead of the mean's: an interval then says how far both may be off
  // together, and is 0 for the reference itself.
  static Forecast relative_to(const Forecast& forecast, int64_t platform);

 private:
  void judge(const Profile& profile, const Eigen::RowVectorXd& features, double disagreement, Forecast& result) const;
  Eigen::MatrixXd covariance_near(const Eigen::RowVectorXd& features) const;
  // Of log relative times, 90%: what the sampling of the profile adds.
  Eigen::VectorXd sampling_half_width(const Profile& profile) const;

  std::shared_ptr<const Bundle> bundle_;
  std::shared_ptr<const HostSpread> host_spread_;
  Standardiser standardiser_;
  Eigen::MatrixXd rows_;  // standardised training features; NaN where absent
};

// Distances between profiles, over the features that both have: [queries x rows], NaN where they share none. Features
// are standardised; NaN: absent.
Eigen::MatrixXd feature_distances(const Eigen::MatrixXd& queries, const Eigen::MatrixXd& rows);

}  // namespace perfcast::program
