#pragma once
// Shapley values of groups of inputs for models of which only forecasts can be had (neighbours, clusters, tables): what
// an input adds is the mean over the orders in which groups, and within a group its inputs, change from the reference's
// value to the program's (Owen, "Values of games with a priori unions", 1977). Over the orders of groups it is exact;
// within a group, orders are drawn, each beside its reverse: without interactions of three inputs, that is exact, too.
// The sums over inputs are exact whatever is drawn.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "program/model/attribution/feature_attribution.h"

namespace perfcast::program {

// [N x F] rows of standardised inputs -> [N x J] log RPV.
using RowForecast = std::function<Eigen::MatrixXd(const Eigen::MatrixXd& rows)>;

// [F x J]. At most 8 groups: the smallest are taken together. `request` names the groups and the seed.
Eigen::MatrixXd group_shapley(const RowForecast& forecast, const AttributedRows& rows,
                              const std::vector<std::string>& features, const AttributionRequest& request);

}  // namespace perfcast::program
