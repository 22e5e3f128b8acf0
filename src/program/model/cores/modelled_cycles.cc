#include "program/model/cores/modelled_cycles.h"

#include <cmath>
#include <set>

#include "base/unknown.h"
#include "machine/facts/core_design.h"
#include "profile/metrics/catalogue.h"
#include "program/model/attribution/feature_attribution.h"

namespace perfcast::program {
namespace {

bool is_of_arm(const std::string& metric) {
  static const std::set<std::string> arm = [] {
    std::set<std::string> found;
    for (const char* design : kArmCoreDesigns) found.insert(core_cycles_metric(design));
    return found;
  }();
  return arm.contains(metric);
}

bool is_own(const std::string& metric, const Profile& profile) {
  return is_of_arm(metric) == (profile.instruction_set == "aarch64");
}

double log_cycles(const Profile& profile, const std::string& metric) {
  const auto found = profile.metrics.find(metric);
  return found == profile.metrics.end() || !(found->second > 0) ? kUnknown : std::log(found->second);
}

// Over the designs of the profile's instruction set that are known; NaN without one.
double mean_log_cycles(const Profile& profile) {
  double sum = 0;
  int count = 0;
  for (const std::string& metric : core_metrics()) {
    const double value = is_own(metric, profile) ? log_cycles(profile, metric) : kUnknown;
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / count : kUnknown;
}

}  // namespace

const std::vector<std::string>& core_metrics() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const Metric& metric : Catalogue::built_in().metrics()) {
      if (metric.group == "core") found.push_back(metric.name);
    }
    return found;
  }();
  return names;
}

Eigen::MatrixXd relative_log_cycles(const std::vector<const Profile*>& profiles) {
  const std::vector<std::string>& metrics = core_metrics();
  Eigen::MatrixXd result(static_cast<Eigen::Index>(profiles.size()), static_cast<Eigen::Index>(metrics.size()));
  for (Eigen::Index p = 0; p < result.rows(); ++p) {
    const Profile& profile = *profiles[static_cast<size_t>(p)];
    const double mean = mean_log_cycles(profile);
    for (Eigen::Index d = 0; d < result.cols(); ++d) {
      result(p, d) = log_cycles(profile, metrics[static_cast<size_t>(d)]) - mean;
    }
  }
  return result;
}

std::vector<std::string> core_metrics_of(const std::vector<Platform>& platforms) {
  std::vector<std::string> found;
  for (const Platform& platform : platforms) {
    const std::string metric = core_cycles_metric(core_design(platform));
    found.push_back(Catalogue::built_in().find(metric) == nullptr ? "" : metric);
  }
  return found;
}

Eigen::MatrixXd relative_log_cycles(const std::vector<const Profile*>& profiles,
                                    const std::vector<std::string>& metrics) {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(profiles.size()), static_cast<Eigen::Index>(metrics.size()));
  for (Eigen::Index p = 0; p < result.rows(); ++p) {
    const Profile& profile = *profiles[static_cast<size_t>(p)];
    const double mean = mean_log_cycles(profile);
    for (Eigen::Index j = 0; j < result.cols(); ++j) {
      const std::string& metric = metrics[static_cast<size_t>(j)];
      const double value = is_own(metric, profile) ? log_cycles(profile, metric) - mean : kUnknown;
      result(p, j) = std::isnan(value) ? 0 : value;
    }
  }
  return result;
}

Eigen::MatrixXd change_by_design(const Eigen::RowVectorXd& change, const std::vector<std::string>& metrics,
                                 std::vector<std::string>& features) {
  features.clear();
  Eigen::MatrixXd log(static_cast<Eigen::Index>(core_metrics().size()), change.size());
  for (const std::string& metric : core_metrics()) {
    const auto row = static_cast<Eigen::Index>(features.size());
    bool is_there = false;
    for (Eigen::Index j = 0; j < change.size(); ++j) {
      const bool own = metrics[static_cast<size_t>(j)] == metric;
      log(row, j) = own ? change(j) : 0;
      is_there |= own;
    }
    if (is_there) features.push_back("relative_" + metric);
  }
  log.conservativeResize(static_cast<Eigen::Index>(features.size()), Eigen::NoChange);
  return centred_over_platforms(std::move(log));
}

}  // namespace perfcast::program
