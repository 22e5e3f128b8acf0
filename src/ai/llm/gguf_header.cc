#include <algorithm>
#include <cstring>
#include <utility>

#include "ai/llm/gguf_reader.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kLongestKey = 65535;      // by the format
constexpr size_t kLongestText = 1 << 20;   // of a value that is kept
constexpr size_t kMostLayerValues = 4096;  // an array of integers up to this length is kept
constexpr uint64_t kMostKeys = 1 << 16;
constexpr uint64_t kMostTensors = 1 << 20;
constexpr uint32_t kMostDimensions = 8;  // ggml itself has 4
constexpr int kDeepestArray = 4;
constexpr uint64_t kMostTensorValues = uint64_t{1} << 62;

enum ValueType : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };

// Bytes of a scalar; 0: none.
size_t width_of(uint32_t type) {
  constexpr size_t kWidths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return type < std::size(kWidths) ? kWidths[type] : 0;
}

struct TensorType {
  uint32_t number;
  uint32_t values, bytes;  // of one block
};

// ggml's types that files may hold.
constexpr TensorType kTensorTypes[] = {
    {0, 1, 4},       // F32
    {1, 1, 2},       // F16
    {2, 32, 18},     // Q4_0
    {3, 32, 20},     // Q4_1
    {6, 32, 22},     // Q5_0
    {7, 32, 24},     // Q5_1
    {8, 32, 34},     // Q8_0
    {9, 32, 36},     // Q8_1
    {10, 256, 84},   // Q2_K
    {11, 256, 110},  // Q3_K
    {12, 256, 144},  // Q4_K
    {13, 256, 176},  // Q5_K
    {14, 256, 210},  // Q6_K
    {15, 256, 292},  // Q8_K
    {16, 256, 66},   // IQ2_XXS
    {17, 256, 74},   // IQ2_XS
    {18, 256, 98},   // IQ3_XXS
    {19, 256, 50},   // IQ1_S
    {20, 32, 18},    // IQ4_NL
    {21, 256, 110},  // IQ3_S
    {22, 256, 82},   // IQ2_S
    {23, 256, 136},  // IQ4_XS
    {24, 1, 1},      // I8
    {25, 1, 2},      // I16
    {26, 1, 4},      // I32
    {27, 1, 8},      // I64
    {28, 1, 8},      // F64
    {29, 256, 56},   // IQ1_M
    {30, 1, 2},      // BF16
    {34, 256, 54},   // TQ1_0
    {35, 256, 66},   // TQ2_0
    {39, 32, 17},    // MXFP4
};

// Walks the bytes; every step first holds what it wants against what is left.
class Cursor {
 public:
  Cursor(std::string_view bytes, const std::string& source) : bytes_(bytes), source_(source) {}

  size_t offset() const { return offset_; }
  size_t left() const { return bytes_.size() - offset_; }

  template <typename T>
  bool take(T& value) {
    if (left() < sizeof(T)) return false;
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return true;
  }
  bool skip(uint64_t count) {
    if (count > left()) return false;
    offset_ += static_cast<size_t>(count);
    return true;
  }
  // A length and as many bytes, as a view of them.
  bool take_text(std::string_view& text) {
    uint64_t length = 0;
    if (!take(length) || length > left()) return false;
    text = bytes_.substr(offset_, static_cast<size_t>(length));
    offset_ += static_cast<size_t>(length);
    return true;
  }

  Error truncated(const std::string& what) const {
    return {"gguf-truncated", "the header ends within " + what, where(), "a whole GGUF file"};
  }
  Error wrong(const std::string& what, const std::string& expected) const {
    return {"bad-gguf", what, where(), expected};
  }
  std::string where() const { return source_ + ": byte " + std::to_string(offset_); }

 private:
  std::string_view bytes_;
  const std::string& source_;
  size_t offset_ = 0;
};

template <typename T>
bool take_integer(Cursor& in, GgufValue& value) {
  T raw = 0;
  if (!in.take(raw)) return false;
  if (std::in_range<int64_t>(raw)) value.integer = static_cast<int64_t>(raw);
  value.number = static_cast<double>(raw);
  return true;
}

template <typename T>
bool take_real(Cursor& in, GgufValue& value) {
  T raw = 0;
  if (!in.take(raw)) return false;
  value.number = static_cast<double>(raw);
  return true;
}

bool take_scalar(Cursor& in, uint32_t type, GgufValue& value) {
  switch (type) {
    case kU8:
    case kBool:
      return take_integer<uint8_t>(in, value);
    case kI8:
      return take_integer<int8_t>(in, value);
    case kU16:
      return take_integer<uint16_t>(in, value);
    case kI16:
      return take_integer<int16_t>(in, value);
    case kU32:
      return take_integer<uint32_t>(in, value);
    case kI32:
      return take_integer<int32_t>(in, value);
    case kU64:
      return take_integer<uint64_t>(in, value);
    case kI64:
      return take_integer<int64_t>(in, value);
    case kF32:
      return take_real<float>(in, value);
    default:
      return take_real<double>(in, value);
  }
}

Status take_value(Cursor& in, uint32_t type, const std::string& key, int depth, GgufValue& value);

Status take_array(Cursor& in, const std::string& key, int depth, GgufValue& value) {
  uint32_t type = 0;
  uint64_t length = 0;
  if (!in.take(type) || !in.take(length)) return in.truncated("the array " + key);
  value.array_length = length;
  if (const size_t width = width_of(type); width > 0) {
    if (length > in.left() / width) return in.truncated("the " + std::to_string(length) + " values of " + key);
    const bool is_per_layer =
        length <= kMostLayerValues && (type == kU32 || type == kI32 || type == kU64 || type == kI64);
    if (!is_per_layer) {
      in.skip(length * width);
      return {};
    }
    for (uint64_t i = 0; i < length; ++i) {
      GgufValue element;
      take_scalar(in, type, element);
      value.array_integers.push_back(element.integer.value_or(-1));
    }
    return {};
  }
  if (type != kString && type != kArray) {
    return in.wrong("the array " + key + " has elements of the unknown type " + std::to_string(type), "0 to 12");
  }
  if (depth >= kDeepestArray) return in.wrong("arrays nest too deeply in " + key, "at most 4 levels");
  // Each element takes at least 8 bytes, so a length that lies ends soon.
  for (uint64_t i = 0; i < length; ++i) {
    if (type == kString) {
      std::string_view text;
      if (!in.take_text(text)) return in.truncated("the texts of " + key);
      continue;
    }
    GgufValue element;
    if (Status status = take_array(in, key, depth + 1, element); !status) return status;
  }
  return {};
}

Status take_value(Cursor& in, uint32_t type, const std::string& key, int depth, GgufValue& value) {
  if (type == kArray) return take_array(in, key, depth, value);
  if (type == kString) {
    std::string_view text;
    if (!in.take_text(text)) return in.truncated("the text of " + key);
    value.text = std::string(text.substr(0, kLongestText));
    return {};
  }
  if (width_of(type) == 0) {
    return in.wrong("the value of " + key + " has the unknown type " + std::to_string(type), "0 to 12");
  }
  if (!take_scalar(in, type, value)) return in.truncated("the value of " + key);
  return {};
}

Status take_tensor(Cursor& in, GgufTensor& tensor) {
  std::string_view name;
  uint32_t dimensions = 0;
  if (!in.take_text(name)) return in.truncated("a tensor's name");
  if (name.size() > kLongestKey)
    return in.wrong("a tensor's name of " + std::to_string(name.size()) + " bytes", "at most 65535");
  tensor.name = std::string(name);
  const std::string shown = "tensor " + printable(tensor.name.substr(0, 100));
  if (!in.take(dimensions)) return in.truncated(shown);
  if (dimensions > kMostDimensions) {
    return in.wrong(shown + " has " + std::to_string(dimensions) + " dimensions", "at most 8");
  }
  tensor.values = 1;
  for (uint32_t i = 0; i < dimensions; ++i) {
    uint64_t size = 0;
    if (!in.take(size)) return in.truncated(shown);
    if (__builtin_mul_overflow(tensor.values, size, &tensor.values) || tensor.values > kMostTensorValues) {
      return in.wrong(shown + " has more than 2^62 values", "sizes of a real model");
    }
    tensor.shape.push_back(size);
  }
  uint64_t data_offset = 0;
  if (!in.take(tensor.type) || !in.take(data_offset)) return in.truncated(shown);
  const auto* type = std::find_if(std::begin(kTensorTypes), std::end(kTensorTypes),
                                  [&](const TensorType& each) { return each.number == tensor.type; });
  if (type == std::end(kTensorTypes)) {
    return in.wrong(shown + " has the unknown type " + std::to_string(tensor.type), "a type that ggml defines");
  }
  if (tensor.values % type->values != 0) {
    return in.wrong(shown + " has " + std::to_string(tensor.values) + " values, no multiple of its block",
                    "a multiple of " + std::to_string(type->values));
  }
  if (__builtin_mul_overflow(tensor.values / type->values, uint64_t{type->bytes}, &tensor.bytes)) {
    return in.wrong(shown + " takes more than 2^64 bytes", "sizes of a real model");
  }
  return {};
}

}  // namespace

const GgufTensor* GgufHeader::tensor(std::string_view name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const GgufTensor& each) { return each.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

double GgufHeader::tensor_bytes() const {
  double sum = 0;
  for (const GgufTensor& each : tensors) sum += static_cast<double>(each.bytes);
  return sum;
}

double GgufHeader::tensor_values() const {
  double sum = 0;
  for (const GgufTensor& each : tensors) sum += static_cast<double>(each.values);
  return sum;
}

Result<GgufHeader> parse_gguf_header(std::string_view bytes, const std::string& source) {
  Cursor in(bytes, source);
  if (bytes.substr(0, 4) != std::string_view("GGUF").substr(0, bytes.size()) || bytes.empty()) {
    return in.wrong("this is no GGUF file: it does not begin with GGUF", "a GGUF file");
  }
  GgufHeader header;
  uint64_t tensor_count = 0;
  uint64_t key_count = 0;
  if (!in.skip(4) || !in.take(header.version)) return in.truncated("the version");
  if (header.version == 1) return in.wrong("GGUF version 1 is not read", "version 2 or 3: convert it with llama.cpp");
  if (header.version != 2 && header.version != 3) {
    const bool swapped = (header.version & 0xffff) == 0;
    return in.wrong(swapped ? "the file is big-endian" : "GGUF version " + std::to_string(header.version),
                    "version 2 or 3, little-endian");
  }
  if (!in.take(tensor_count) || !in.take(key_count)) return in.truncated("the counts");

  if (key_count > kMostKeys || tensor_count > kMostTensors) {
    return in.wrong(std::to_string(key_count) + " keys and " + std::to_string(tensor_count) + " tensors",
                    "at most 65536 keys and 1048576 tensors");
  }

  for (uint64_t i = 0; i < key_count; ++i) {
    std::string_view key;
    uint32_t type = 0;
    if (!in.take_text(key)) return in.truncated("key " + std::to_string(i + 1) + " of " + std::to_string(key_count));
    if (key.size() > kLongestKey) return in.wrong("a key of " + std::to_string(key.size()) + " bytes", "at most 65535");
    const std::string shown = printable(key.substr(0, 100));
    if (!in.take(type)) return in.truncated(shown);
    GgufValue value;
    if (Status status = take_value(in, type, shown, 0, value); !status) return status.error();
    header.metadata.insert_or_assign(std::string(key), std::move(value));
  }
  for (uint64_t i = 0; i < tensor_count; ++i) {
    GgufTensor tensor;
    if (Status status = take_tensor(in, tensor); !status) return status.error();
    header.tensors.push_back(std::move(tensor));
  }
  return header;
}

}  // namespace perfcast::ai
