#pragma once
// Safetensors files for tests.

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace perfcast::ai {

struct WrittenTensor {
  std::string name, type;
  std::vector<int64_t> shape;
  std::string bytes;
};

inline std::string framed_tensors(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + header + data;
}

inline std::string tensors_text(const std::vector<WrittenTensor>& tensors) {
  std::string header = "{\"__metadata__\":{\"format\":\"pt\"}", data;
  for (const WrittenTensor& tensor : tensors) {
    header += ",\"";
    header += tensor.name;
    header += "\":{\"dtype\":\"";
    header += tensor.type;
    header += "\",\"shape\":[";
    for (size_t i = 0; i < tensor.shape.size(); ++i)
      header.append(i > 0 ? "," : "").append(std::to_string(tensor.shape[i]));
    header += "],\"data_offsets\":[";
    header += std::to_string(data.size());
    data += tensor.bytes;
    header += ',';
    header += std::to_string(data.size());
    header += "]}";
  }
  return framed_tensors(header + "}", data);
}

inline std::string float_bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

}  // namespace perfcast::ai
