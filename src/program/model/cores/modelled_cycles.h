#pragma once
// What models of cores (src/profile/core) made of a program, as models of programs see it: cycles on a design against
// those on the others, from the metrics core_<design>_cycles_count of its profile.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

// Metrics of the catalogue's group "core", in its order.
const std::vector<std::string>& core_metrics();

// [profiles x core_metrics()] log cycles, each row about the mean of its designs of the profile's own instruction set;
// NaN where a profile has none.
Eigen::MatrixXd relative_log_cycles(const std::vector<const Profile*>& profiles);

// For each platform the metric of its core design, empty where there is none.
std::vector<std::string> core_metrics_of(const std::vector<Platform>& platforms);

// [profiles x metrics.size()] the same by metric name, as in core_metrics_of(): 0, which says nothing, where a metric
// is empty or absent, or of another instruction set than the profile.
Eigen::MatrixXd relative_log_cycles(const std::vector<const Profile*>& profiles,
                                    const std::vector<std::string>& metrics);

// What each design adds to log relative times, [designs x J] with rows about 0, where the log time of each platform
// changes by `change` [J] because of the cycles on its design, metrics[j], alone. `features`: the designs' inputs, as
// ModelInputs::names() has them.
Eigen::MatrixXd change_by_design(const Eigen::RowVectorXd& change, const std::vector<std::string>& metrics,
                                 std::vector<std::string>& features);

}  // namespace perfcast::program
