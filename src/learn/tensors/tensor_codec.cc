#include "learn/tensors/tensor_codec.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/json.h"

namespace perfcast {
namespace {

Error bad_bundle(const std::string& message, const std::string& where) {
  return Error{"bad-bundle", message, where, "a file written by perfcast train"};
}

}  // namespace

void TensorCodec::encode(const TensorMap& tensors, size_t alignment, Json& index, ByteWriter& data) {
  index = Json::array();
  std::map<std::string_view, size_t> places;  // of bytes that are there: parts of a model often keep the same rows
  for (const auto& [kind, word] : kKinds) {
    for (const auto& [name, tensor] : tensors.tensors_) {
      if (tensor.kind != kind) continue;
      auto place = places.find(tensor.values);
      if (place == places.end()) {
        data.pad_to(alignment);
        place = places.emplace(tensor.values, data.size()).first;
        data.put_raw(tensor.values.data(), tensor.values.size());
      }
      index.push_back({{"name", name},
                       {"kind", word},
                       {"rows", tensor.rows},
                       {"cols", tensor.cols},
                       {"offset_bytes", place->second}});
    }
  }
}

Status TensorCodec::decode(const Json& index, std::string_view data, const std::shared_ptr<const void>& owner,
                           const std::string& path, const std::function<bool(std::string_view)>& may_have_gaps,
                           TensorMap& tensors) {
  for (size_t i = 0; i < index.size(); ++i) {
    const std::string item = path + ".tensors[" + std::to_string(i) + "]";
    JsonReader in(index[i], item);
    const std::string name = in.string("name");
    const std::string word = in.string("kind");
    TensorMap::Tensor tensor;
    tensor.rows = in.integer("rows");
    tensor.cols = in.integer("cols");
    const int64_t offset = in.integer("offset_bytes");
    if (auto status = in.finish(); !status) return bad_bundle(status.error().message, item);
    const auto kind =
        std::find_if(std::begin(kKinds), std::end(kKinds), [&](auto& known) { return known.word == word; });
    if (kind == std::end(kKinds)) {
      return bad_bundle(std::string("tensor '").append(name).append("' is of unknown kind '").append(word) + "'", item);
    }
    tensor.kind = kind->kind;
    const int64_t width = tensor.kind == Kind::kDouble ? 8 : tensor.kind == Kind::kFloat ? 4 : 1;
    const auto available = static_cast<int64_t>(data.size());
    if (tensor.rows < 0 || tensor.cols < 0 || offset < 0 || offset > available ||
        (tensor.cols > 0 && tensor.rows > (available - offset) / width / tensor.cols)) {
      return bad_bundle("tensor '" + name + "' does not lie within the file", item);
    }
    // A tensor without columns claims no bytes: its rows are not limited by the file's size.
    if (tensor.rows == 0 || tensor.cols == 0) tensor.rows = tensor.cols = 0;
    tensor.values = data.substr(static_cast<size_t>(offset), static_cast<size_t>(tensor.rows * tensor.cols * width));
    tensor.owner = owner;
    tensor.numbers = may_have_gaps(name) ? TensorMap::Numbers::kNoInfinity : TensorMap::Numbers::kFinite;
    tensors.tensors_[name] = std::move(tensor);
  }
  return {};
}

Json TensorCodec::json_values(const TensorMap& tensors) {
  Json values = Json::object();
  for (const auto& [name, value] : tensors.json_) values[name] = *value;
  return values;
}

void TensorCodec::set_json_values(const Json& values, TensorMap& tensors) {
  for (const auto& [name, value] : values.items()) tensors.put_json(name, value);
}

}  // namespace perfcast
