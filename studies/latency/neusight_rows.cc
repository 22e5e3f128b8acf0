#include "studies/latency/neusight_rows.h"

#include <algorithm>
#include <set>

#include "base/random.h"

namespace perfcast::ai::latency_study {

std::vector<std::string> devices_of(const NeusightOperators& operators) {
  std::set<std::string> names;
  for (const NeusightProduct& product : operators.products) names.insert(product.device);
  for (const NeusightVector& vector : operators.vectors) names.insert(vector.device);
  return {names.begin(), names.end()};
}

std::vector<ProfiledProduct> products_of(const NeusightOperators& operators, const std::string& device) {
  std::vector<ProfiledProduct> rows;
  for (const NeusightProduct& row : operators.products) {
    if (row.device == device) rows.push_back(row);
  }
  return rows;
}

std::vector<MeasuredVector> vectors_of(const NeusightOperators& operators, const std::string& device) {
  std::vector<MeasuredVector> rows;
  for (const NeusightVector& row : operators.vectors) {
    const auto kind = vector_kind(row.op);
    if (row.device == device && kind) rows.push_back({{*kind, row.rows, row.columns}, row.seconds});
  }
  return rows;
}

std::vector<ProfiledProduct> with_weights(std::vector<ProfiledProduct> rows, bool weights) {
  std::erase_if(rows, [&](const ProfiledProduct& row) { return row.shape.weights != weights; });
  return rows;
}

std::string folder_name(std::string device) {
  std::replace(device.begin(), device.end(), ' ', '_');
  return device;
}

std::vector<MeasuredProduct> take_shapes(std::vector<ProfiledProduct>& rows, size_t count, uint64_t seed) {
  Random random(seed);
  random.shuffle(rows);
  std::vector<MeasuredProduct> taken;
  std::vector<ProfiledProduct> left;
  size_t linear = 0, batched = 0;
  for (const ProfiledProduct& row : rows) {
    size_t& n = row.shape.weights ? linear : batched;
    if (n < count) {
      taken.push_back(row);
    } else {
      left.push_back(row);
    }
    ++n;
  }
  rows = std::move(left);
  return taken;
}

}  // namespace perfcast::ai::latency_study
