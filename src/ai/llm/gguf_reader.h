#pragma once
// The header of a GGUF file (versions 2 and 3, little-endian), as llama.cpp loads it: metadata and the list of tensors,
// not the tensors themselves. Format: docs/gguf.md of ggml. Untrusted input: every length is held against the bytes
// that are there before anything is allocated.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ai/llm/model_config.h"
#include "base/result.h"

namespace perfcast::ai {

// One metadata value. Of arrays the length is kept, and the values of short arrays of 32- or 64-bit integers.
struct GgufValue {
  std::optional<int64_t> integer;  // integers and booleans that fit
  std::optional<double> number;
  std::optional<std::string> text;
  std::optional<uint64_t> array_length;
  std::vector<int64_t> array_integers;  // -1 for what doesn't fit
};

struct GgufTensor {
  std::string name;
  std::vector<uint64_t> shape;  // the fastest first
  uint32_t type = 0;            // ggml's number
  uint64_t values = 0;
  uint64_t bytes = 0;
};

struct GgufHeader {
  uint32_t version = 0;
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::vector<GgufTensor> tensors;

  const GgufTensor* tensor(std::string_view name) const;
  double tensor_bytes() const;
  double tensor_values() const;
};

// `bytes`: the beginning of the file, at least all of the header. "gguf-truncated" where the header goes on behind it,
// "bad-gguf" where it is wrong, with the offset.
Result<GgufHeader> parse_gguf_header(std::string_view bytes, const std::string& source);

// The architecture that the header states; `header` has all tensors of the model. "unknown-model-type", "bad-gguf"
// names the missing key.
Result<LlmConfig> gguf_config(const GgufHeader& header, const std::string& source);

// Reads as much of the file as its header takes, at most 256 MiB. Of a piece of a model (NAME-00002-of-00003.gguf) all
// pieces beside it are read, too, and the source is the first: "missing-pieces" says which are not there, "bad-gguf"
// where a file is another piece than its name says.
Result<LlmConfig> read_gguf(const std::string& path);

std::vector<std::string> gguf_architectures();

}  // namespace perfcast::ai
