#pragma once
// The arrays of a TensorMap <-> the bytes of a file: an index (JSON) that names each array with its kind, shape and
// place.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "learn/tensors/tensor_map.h"

namespace perfcast {

class TensorCodec {
 public:
  // Each array begins at a multiple of `alignment` bytes; arrays of equal bytes lie in one place.
  static void encode(const TensorMap& tensors, size_t alignment, Json& index, ByteWriter& data);
  // Every array must lie within `data`; "bad-bundle" else. They stay where they are in `owner`. Arrays that
  // `may_have_gaps` names may hold NaN, none infinity.
  static Status decode(const Json& index, std::string_view data, const std::shared_ptr<const void>& owner,
                       const std::string& path, const std::function<bool(std::string_view)>& may_have_gaps,
                       TensorMap& tensors);
  static Json json_values(const TensorMap& tensors);
  static void set_json_values(const Json& values, TensorMap& tensors);

 private:
  using Kind = TensorMap::Kind;
  struct Named {
    Kind kind;
    std::string_view word;
  };
  static constexpr Named kKinds[] = {{Kind::kDouble, "f64"}, {Kind::kFloat, "f32"}, {Kind::kBytes, "u8"}};  // in order
};

}  // namespace perfcast
