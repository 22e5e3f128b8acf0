#include "learn/tensors/tensor_map.h"

#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/json.h"

namespace perfcast {
namespace {

Error absent(const std::string& name) {
  return Error{"bad-bundle", "the bundle lacks '" + name + "'", name, "a bundle written by perfcast train"};
}

}  // namespace

template <typename Matrix>
void TensorMap::put_matrix(Kind kind, const std::string& name, const Matrix& values) {
  auto own = std::make_shared<const Matrix>(values);
  const std::string_view bytes(reinterpret_cast<const char*>(own->data()),
                               static_cast<size_t>(own->size()) * sizeof(typename Matrix::Scalar));
  tensors_[name] = {kind, Numbers::kAny, own->rows(), own->cols(), bytes, std::move(own)};
}

template <typename Matrix>
Result<Matrix> TensorMap::get_matrix(Kind kind, const std::string& name, int64_t rows, int64_t cols) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end() || found->second.kind != kind) return absent(name);
  const Tensor& tensor = found->second;
  if ((rows >= 0 && tensor.rows != rows) || (cols >= 0 && tensor.cols != cols)) {
    const auto side = [](int64_t n) { return n < 0 ? std::string("any") : std::to_string(n); };
    return Error{"bad-bundle", "'" + name + "' is " + std::to_string(tensor.rows) + " x " + std::to_string(tensor.cols),
                 name, side(rows) + " x " + side(cols)};
  }
  Matrix values(tensor.rows, tensor.cols);
  if (!tensor.values.empty()) std::memcpy(values.data(), tensor.values.data(), tensor.values.size());
  const bool bad = tensor.numbers == Numbers::kFinite       ? !values.allFinite()
                   : tensor.numbers == Numbers::kNoInfinity ? values.array().isInf().any()
                                                            : false;
  if (bad) {
    return Error{"bad-bundle", "tensor '" + name + "' holds a number that is not finite", name,
                 "a file written by perfcast train"};
  }
  return values;
}

void TensorMap::put(const std::string& name, const Eigen::MatrixXd& values) { put_matrix(Kind::kDouble, name, values); }

void TensorMap::put_float(const std::string& name, const Eigen::MatrixXf& values) {
  put_matrix(Kind::kFloat, name, values);
}

void TensorMap::put_rounded(const std::string& name, const Eigen::MatrixXd& values) {
  put_float(name, values.cast<float>());
}

void TensorMap::put_bytes(const std::string& name, std::string bytes) {
  auto own = std::make_shared<const std::string>(std::move(bytes));
  const auto size = static_cast<int64_t>(own->size());
  tensors_[name] = {Kind::kBytes, Numbers::kAny, size, 1, std::string_view(*own), own};
}

void TensorMap::put_texts(const std::string& name, const std::vector<std::string>& texts) {
  ByteWriter bytes;
  for (const std::string& text : texts) bytes.put_text(text);
  put_bytes(name, bytes.bytes());
}

void TensorMap::put_json(const std::string& name, const Json& value) {
  json_[name] = std::make_shared<const Json>(value);
}

Result<Eigen::MatrixXd> TensorMap::get(const std::string& name, int64_t rows, int64_t cols) const {
  const auto found = tensors_.find(name);
  if (found != tensors_.end() && found->second.kind == Kind::kFloat) {
    const auto rounded = get_float(name, rows, cols);
    if (!rounded) return rounded.error();
    return Eigen::MatrixXd(rounded->cast<double>());
  }
  return get_matrix<Eigen::MatrixXd>(Kind::kDouble, name, rows, cols);
}

Result<Eigen::MatrixXf> TensorMap::get_float(const std::string& name, int64_t rows, int64_t cols) const {
  return get_matrix<Eigen::MatrixXf>(Kind::kFloat, name, rows, cols);
}

Result<std::string_view> TensorMap::get_bytes(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end() || found->second.kind != Kind::kBytes) return absent(name);
  return found->second.values;
}

Result<std::vector<std::string>> TensorMap::get_texts(const std::string& name) const {
  const auto bytes = get_bytes(name);
  if (!bytes) return bytes.error();
  std::vector<std::string> texts;
  for (ByteReader in(*bytes); !in.at_end();) {
    if (std::string text; in.get_text(text)) {
      texts.push_back(std::move(text));
    } else {
      return Error{"bad-bundle", "texts '" + name + "' are cut short", name, "a file written by perfcast train"};
    }
  }
  return texts;
}

Result<Json> TensorMap::get_json(const std::string& name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) return absent(name);
  return *found->second;
}

TensorMap TensorMap::within(const std::string& prefix) const {
  const std::string start = prefix + "/";
  TensorMap part;
  const auto take = [&start](const auto& from, auto& to) {
    for (auto item = from.lower_bound(start); item != from.end() && item->first.starts_with(start); ++item) {
      to.emplace_hint(to.end(), item->first.substr(start.size()), item->second);
    }
  };
  take(tensors_, part.tensors_);
  take(json_, part.json_);
  return part;
}

void TensorMap::put_within(const std::string& prefix, const TensorMap& other) {
  const std::string start = prefix + "/";
  for (const auto& [name, tensor] : other.tensors_) tensors_[start + name] = tensor;
  for (const auto& [name, value] : other.json_) json_[start + name] = value;
}

}  // namespace perfcast
