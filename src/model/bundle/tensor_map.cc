#include "base/json.h"
#include "model/bundle/bundle.h"

namespace perfcast {
namespace {

Error absent(const std::string& name) {
  return Error{"bad-bundle", "the bundle lacks '" + name + "'", name, "a bundle written by perfcast train"};
}

template <typename Matrix>
Result<Matrix> checked(const std::map<std::string, Matrix>& from, const std::string& name, int64_t rows, int64_t cols) {
  const auto found = from.find(name);
  if (found == from.end()) return absent(name);
  const Matrix& values = found->second;
  if ((rows >= 0 && values.rows() != rows) || (cols >= 0 && values.cols() != cols)) {
    const auto side = [](int64_t n) { return n < 0 ? std::string("any") : std::to_string(n); };
    return Error{"bad-bundle",
                 "'" + name + "' is " + std::to_string(values.rows()) + " x " + std::to_string(values.cols()), name,
                 side(rows) + " x " + side(cols)};
  }
  return values;
}

}  // namespace

void TensorMap::put(const std::string& name, const Eigen::MatrixXd& values) { doubles_[name] = values; }
void TensorMap::put_float(const std::string& name, const Eigen::MatrixXf& values) { floats_[name] = values; }
void TensorMap::put_bytes(const std::string& name, const std::string& bytes) { bytes_[name] = bytes; }
void TensorMap::put_json(const std::string& name, Json value) { json_[name] = std::move(value); }

Result<Eigen::MatrixXd> TensorMap::get(const std::string& name, int64_t rows, int64_t cols) const {
  return checked(doubles_, name, rows, cols);
}

Result<Eigen::MatrixXf> TensorMap::get_float(const std::string& name, int64_t rows, int64_t cols) const {
  return checked(floats_, name, rows, cols);
}

Result<std::string> TensorMap::get_bytes(const std::string& name) const {
  const auto found = bytes_.find(name);
  if (found == bytes_.end()) return absent(name);
  return found->second;
}

Result<Json> TensorMap::get_json(const std::string& name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) return absent(name);
  return found->second;
}

TensorMap TensorMap::within(const std::string& prefix) const {
  const std::string start = prefix + "/";
  TensorMap part;
  const auto take = [&start](const auto& from, auto& to) {
    for (auto item = from.lower_bound(start); item != from.end() && item->first.starts_with(start); ++item) {
      to[item->first.substr(start.size())] = item->second;
    }
  };
  take(doubles_, part.doubles_);
  take(floats_, part.floats_);
  take(bytes_, part.bytes_);
  take(json_, part.json_);
  return part;
}

void TensorMap::put_within(const std::string& prefix, const TensorMap& other) {
  const auto add = [&prefix](const auto& from, auto& to) {
    for (const auto& [name, value] : from) to[prefix + "/" + name] = value;
  };
  add(other.doubles_, doubles_);
  add(other.floats_, floats_);
  add(other.bytes_, bytes_);
  add(other.json_, json_);
}

}  // namespace perfcast
