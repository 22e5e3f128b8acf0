#pragma once
// What models see of a profile: an explicit list of numbers made from its counters, all per instruction, so that a
// program's length doesn't matter. A number whose counters are absent is NaN, never 0.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace perfcast::program {

// Work classes: the causes of time, each a count per instruction and the cycles it costs on a textbook core.
std::vector<std::string> work_class_names();  // K; the last is "base": what every instruction costs
Eigen::VectorXd textbook_costs();             // K, cycles
// K: 1 where a class is about memory or the system, which platforms of one core design do differently.
Eigen::VectorXd memory_classes();
// [profiles x K] events per instruction.
Eigen::MatrixXd work_rates(const std::vector<const Profile*>& profiles);

// Features, F: "share_<class>", the square root of a class' share of textbook time, and "rate_<counter>", the logarithm
// of a counter per instruction above a floor.
const std::vector<std::string>& work_feature_names();
Eigen::MatrixXd extract_work_features(const std::vector<const Profile*>& profiles);  // [profiles x F]

// What a feature's value stands for: a "share_"'s share of textbook time, a "rate_"'s events per instruction, the ratio
// of cycles that a "relative_" is the logarithm of; of others the value itself, without the logarithm of a "log_".
double feature_quantity(const std::string& name, double value);

// Metrics whose change the input tells of: of a "share_" those of its class, not those of the total.
std::vector<std::string> metrics_of_feature(const std::string& name);

// Names of the catalogue metrics that shares and rates are made of; with those of core models, too.
const std::vector<std::string>& work_feature_metrics();
const std::vector<std::string>& all_feature_metrics();

}  // namespace perfcast::program
