#include "measure/power/model/form_json.h"

#include <cmath>

#include "base/json.h"

namespace perfcast::measure {

Json as_json(const Eigen::VectorXd& values) { return Json(std::vector<double>(values.begin(), values.end())); }

Json rows_json(const Eigen::MatrixXd& matrix) {
  Json rows = Json::array();
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) rows.push_back(as_json(matrix.row(r).transpose()));
  return rows;
}

Error bad_matrix(const std::string& path, const std::string& expected) {
  return Error{"bad-json-field", path + " has another size or holds what is no number", path, expected};
}

Result<Eigen::MatrixXd> matrix_from(const Json& json, const char* key, const std::string& path, Eigen::Index columns) {
  const std::string where = path + "." + key;
  if (!json.is_object() || !json.contains(key) || !json[key].is_array()) return bad_matrix(where, "rows of numbers");
  const Json& rows = json[key];
  if (columns < 0) columns = rows.empty() || !rows[0].is_array() ? 0 : static_cast<Eigen::Index>(rows[0].size());
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows.size()), columns);
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    const Json& row = rows[static_cast<size_t>(r)];
    if (!row.is_array() || static_cast<Eigen::Index>(row.size()) != columns) {
      return bad_matrix(where, std::to_string(columns) + " numbers in each row");
    }
    for (Eigen::Index c = 0; c < columns; ++c) {
      const Json& value = row[static_cast<size_t>(c)];
      if (!value.is_number() || !std::isfinite(value.get<double>())) return bad_matrix(where, "finite numbers");
      matrix(r, c) = value.get<double>();
    }
  }
  return matrix;
}

Result<std::vector<int>> groups_from(const Json& json, const std::string& path, size_t groups, size_t count) {
  std::vector<int> result;
  const Error bad{"bad-json-field", path + ".groups are not those of the model", path + ".groups",
                  std::to_string(count) + " numbers below " + std::to_string(groups)};
  if (!json.contains("groups") || !json["groups"].is_array() || json["groups"].size() != count) return bad;
  for (const Json& value : json["groups"]) {
    if (!value.is_number_integer() || value.get<int64_t>() < 0 ||
        value.get<int64_t>() >= static_cast<int64_t>(groups)) {
      return bad;
    }
    result.push_back(value.get<int>());
  }
  return result;
}

}  // namespace perfcast::measure
