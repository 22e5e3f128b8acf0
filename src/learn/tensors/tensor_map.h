#pragma once
// Named arrays and small JSON values: the state of a fitted model, as families put it into a bundle and take it back.

#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast {

// Arrays of double or float are kept in the precision they were put in. Copies and parts share the numbers, so that a
// bundle is read where it lies and copied once, into the model.
class TensorMap {
 public:
  void put(const std::string& name, const Eigen::MatrixXd& values);
  void put_float(const std::string& name, const Eigen::MatrixXf& values);
  void put_rounded(const std::string& name, const Eigen::MatrixXd& values);  // to float: get() takes it all the same
  void put_bytes(const std::string& name, std::string bytes);                // opaque state of a library's model
  void put_texts(const std::string& name, const std::vector<std::string>& texts);  // many: JSON is dear to read
  void put_json(const std::string& name, const Json& value);
  bool has(const std::string& name) const { return tensors_.contains(name) || json_.contains(name); }
  // "bad-bundle" where absent, where rows/cols >= 0 differ, or where a file's numbers are not finite.
  Result<Eigen::MatrixXd> get(const std::string& name, int64_t rows = -1, int64_t cols = -1) const;
  Result<Eigen::MatrixXf> get_float(const std::string& name, int64_t rows = -1, int64_t cols = -1) const;
  Result<std::string_view> get_bytes(const std::string& name) const;  // lives as long as a map that shares it
  Result<std::vector<std::string>> get_texts(const std::string& name) const;
  Result<Json> get_json(const std::string& name) const;
  // Views under "prefix/": for models made of models.
  TensorMap within(const std::string& prefix) const;
  void put_within(const std::string& prefix, const TensorMap& other);

 private:
  friend class TensorCodec;
  enum class Kind { kDouble, kFloat, kBytes };
  // What a reader holds the numbers to: models and intervals compare and sort them.
  enum class Numbers { kAny, kNoInfinity, kFinite };
  struct Tensor {
    Kind kind = Kind::kBytes;
    Numbers numbers = Numbers::kAny;
    int64_t rows = 0, cols = 0;
    std::string_view values;            // column-major, of any alignment
    std::shared_ptr<const void> owner;  // of the values
  };
  template <typename Matrix>
  void put_matrix(Kind kind, const std::string& name, const Matrix& values);
  template <typename Matrix>
  Result<Matrix> get_matrix(Kind kind, const std::string& name, int64_t rows, int64_t cols) const;

  std::map<std::string, Tensor> tensors_;
  std::map<std::string, std::shared_ptr<const Json>> json_;
};

}  // namespace perfcast
