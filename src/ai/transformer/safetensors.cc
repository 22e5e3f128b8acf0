#include "ai/transformer/safetensors.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kMostTensors = 1'000'000, kMostDimensions = 8;
constexpr uint64_t kMostValues = uint64_t{1} << 40;

struct NamedType {
  std::string_view name;
  SafeTensorType type;
  uint64_t bytes;
};
constexpr NamedType kTypes[] = {{"F64", SafeTensorType::kF64, 8},       {"F32", SafeTensorType::kF32, 4},
                                {"F16", SafeTensorType::kF16, 2},       {"BF16", SafeTensorType::kBf16, 2},
                                {"I64", SafeTensorType::kOther, 8},     {"U64", SafeTensorType::kOther, 8},
                                {"I32", SafeTensorType::kOther, 4},     {"U32", SafeTensorType::kOther, 4},
                                {"I16", SafeTensorType::kOther, 2},     {"U16", SafeTensorType::kOther, 2},
                                {"I8", SafeTensorType::kOther, 1},      {"U8", SafeTensorType::kOther, 1},
                                {"F8_E4M3", SafeTensorType::kOther, 1}, {"F8_E5M2", SafeTensorType::kOther, 1},
                                {"BOOL", SafeTensorType::kOther, 1}};

Error bad_tensor(const std::string& source, const std::string& name, const std::string& what) {
  return {"bad-safetensors", "tensor '" + printable(name.substr(0, 100)) + "' " + what, source,
          "a safetensors file as its writer left it"};
}

// A whole number that a JSON file may state as such; -1 where it is none.
int64_t whole_number(const Json& json) {
  if (!json.is_number_integer()) return -1;
  if (json.is_number_unsigned() && json.get<uint64_t>() > (uint64_t{1} << 62)) return -1;
  return json.get<int64_t>();
}

Result<SafeTensor> read_tensor(const std::string& name, const Json& json, uint64_t data, uint64_t file_bytes,
                               const std::string& source) {
  if (!json.is_object()) return bad_tensor(source, name, "is no object");
  const auto type = json.find("dtype"), shape = json.find("shape"), offsets = json.find("data_offsets");
  if (type == json.end() || !type->is_string() || shape == json.end() || !shape->is_array() || offsets == json.end() ||
      !offsets->is_array() || offsets->size() != 2) {
    return bad_tensor(source, name, "lacks dtype, shape or data_offsets");
  }
  const auto& type_name = type->get_ref<const std::string&>();
  const auto* known =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const NamedType& each) { return each.name == type_name; });
  if (known == std::end(kTypes)) {
    return bad_tensor(source, name, "has the unknown type '" + printable(type_name.substr(0, 40)) + "'");
  }
  SafeTensor tensor;
  tensor.type = known->type;
  if (shape->size() > kMostDimensions) return bad_tensor(source, name, "has more than 8 dimensions");
  uint64_t values = 1;
  tensor.shape.reserve(shape->size());
  for (const Json& each : *shape) {
    const int64_t size = whole_number(each);
    if (size < 0 || (size > 0 && values > kMostValues / static_cast<uint64_t>(size))) {
      return bad_tensor(source, name, "has a shape that is too large, or no shape");
    }
    values *= static_cast<uint64_t>(size);
    tensor.shape.push_back(size);
  }
  const int64_t begin = whole_number((*offsets)[0]), end = whole_number((*offsets)[1]);
  if (begin < 0 || end < begin || static_cast<uint64_t>(end) > file_bytes - data) {
    return bad_tensor(source, name, "lies outside of the file");
  }
  if (static_cast<uint64_t>(end - begin) != values * known->bytes) {
    return bad_tensor(source, name, "has other bytes than its shape and type need");
  }
  tensor.begin = data + static_cast<uint64_t>(begin);
  tensor.end = data + static_cast<uint64_t>(end);
  return tensor;
}

// The format allows neither.
Status check_places(const SafeTensors& file, uint64_t data, uint64_t file_bytes, const std::string& source) {
  std::vector<std::pair<uint64_t, uint64_t>> places;
  places.reserve(file.tensors.size());
  for (const auto& [name, tensor] : file.tensors) places.emplace_back(tensor.begin, tensor.end);
  std::sort(places.begin(), places.end());
  uint64_t at = data;
  for (const auto& [begin, end] : places) {
    if (begin != at) {
      return Error{"bad-safetensors", begin < at ? "two tensors overlap" : "there is a gap between tensors",
                   source + ":" + std::to_string(begin), "tensors side by side"};
    }
    at = end;
  }
  if (at == file_bytes) return {};
  return Error{"bad-safetensors", "there are bytes behind the last tensor", source + ":" + std::to_string(at),
               "tensors to the end of the file"};
}

}  // namespace

Result<SafeTensors> parse_safetensors(std::string_view bytes, uint64_t file_bytes, const std::string& source) {
  uint64_t length = 0;
  if (bytes.size() < sizeof length || file_bytes < sizeof length) {
    return Error{"bad-safetensors", "it is too short to be one", source, "a safetensors file"};
  }
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kLargestTensorHeader || length > file_bytes - sizeof length) {
    return Error{"bad-safetensors", "its header would take " + std::to_string(length) + " bytes", source,
                 "at most " + std::to_string(kLargestTensorHeader) + ", and no more than the file has"};
  }
  if (length > bytes.size() - sizeof length) {
    return Error{"safetensors-truncated", "its header goes on", source, "all of it"};
  }
  const auto json = parse_json(bytes.substr(sizeof length, static_cast<size_t>(length)), source);
  if (!json) return json.error();
  if (!json->is_object() || json->size() > kMostTensors) {
    return Error{"bad-safetensors", "its header is no list of tensors", source, "an object, a tensor for each name"};
  }
  SafeTensors file;
  const uint64_t data = sizeof length + length;
  for (const auto& [name, value] : json->items()) {
    if (name == "__metadata__") continue;
    auto tensor = read_tensor(name, value, data, file_bytes, source);
    if (!tensor) return tensor.error();
    file.tensors.emplace(name, std::move(*tensor));
  }
  if (auto status = check_places(file, data, file_bytes, source); !status) return status.error();
  return file;
}

float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
  const uint32_t exponent = bits >> 10 & 0x1FU, fraction = bits & 0x3FFU;
  if (exponent == 31) return __builtin_bit_cast(float, sign | 0x7F800000U | fraction << 13);
  if (exponent != 0) return __builtin_bit_cast(float, sign | (exponent + 112) << 23 | fraction << 13);
  const float tiny = static_cast<float>(fraction) * 0x1.0p-24f;
  return sign != 0 ? -tiny : tiny;
}

}  // namespace perfcast::ai
