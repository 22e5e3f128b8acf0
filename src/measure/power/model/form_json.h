#pragma once
// What files of forms have in common: matrices as rows of numbers, and the groups that coefficients belong to.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast::measure {

Json as_json(const Eigen::VectorXd& values);
Json rows_json(const Eigen::MatrixXd& matrix);
Error bad_matrix(const std::string& path, const std::string& expected);
// `columns` < 0: any, the same in each row. "bad-json-field": another size, or what is no finite number.
Result<Eigen::MatrixXd> matrix_from(const Json& json, const char* key, const std::string& path, Eigen::Index columns);
// `count` numbers below `groups`.
Result<std::vector<int>> groups_from(const Json& json, const std::string& path, size_t groups, size_t count);

}  // namespace perfcast::measure
