#pragma once
// The compressors and ciphers of the cloud suite behind one interface, on buffers in memory.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast::harness {

using View = std::span<const uint8_t>;

// Memory that nobody has written yet: a std::vector would be filled with zeros first.
class Buffer {
 public:
  explicit Buffer(size_t size) : data_(new uint8_t[size]), size_(size) {}
  uint8_t* data() { return data_.get(); }
  const uint8_t* data() const { return data_.get(); }
  size_t size() const { return size_; }
  void shrink(size_t size) { size_ = size < size_ ? size : size_; }
  View view() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<uint8_t[]> data_;
  size_t size_;
};

class Codec {
 public:
  virtual ~Codec() = default;
  // Every call allocates its output anew, as the calls of a language binding do.
  virtual Result<Buffer> compress(View input) = 0;
  // `output_bytes`: the size that must come out; anything else is an error.
  virtual Result<Buffer> decompress(View input, size_t output_bytes) = 0;
};

struct CodecRequest {
  std::string algorithm;               // gzip, bzip2, bzip3, zstd, lz4
  std::optional<int> level;            // the library's default where absent
  std::optional<int64_t> block_bytes;  // lz4: 65536, 262144, 1048576, 4194304; bzip3: 66560 .. 511 MiB
};

// Errors: "unknown-algorithm" (those built in are listed), "bad-level", "bad-block".
Result<std::unique_ptr<Codec>> make_codec(const CodecRequest& request);
std::vector<std::string> codec_names();              // built in here
std::string codec_version(const std::string& name);  // of the library

// Processes one buffer of `block_bytes` per call of the returned function, which gives a byte of the result.
Result<std::function<Result<uint8_t>()>> make_crypto(const std::string& algorithm, size_t block_bytes);
bool crypto_built_in();
std::string crypto_version();

uint32_t checksum(View bytes);

}  // namespace perfcast::harness
