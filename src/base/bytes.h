#pragma once
// Binary files of ours: little-endian numbers, lengths before texts, a CRC-32 at the end. Writers can't fail; a reader
// of truncated or hostile bytes stops at the first thing that does not fit and says so from then on.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace perfcast {

static_assert(std::endian::native == std::endian::little);

uint32_t crc32_of(std::string_view bytes, uint32_t sum = 0);

class ByteWriter {
 public:
  explicit ByteWriter(std::string_view magic = {}) : bytes_(magic) {}

  template <typename T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void put_text(std::string_view text) {  // uint64 length, then the bytes
    put(static_cast<uint64_t>(text.size()));
    bytes_ += text;
  }
  void put_raw(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  void pad_to(size_t multiple) { bytes_.resize((bytes_.size() + multiple - 1) / multiple * multiple, '\0'); }

  size_t size() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }
  std::string finish() &&;  // all of it, and its checksum

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  bool get(T& value) {
    static_assert(std::is_arithmetic_v<T>);
    if (!ok_ || sizeof(value) > bytes_.size()) return ok_ = false;
    std::memcpy(&value, bytes_.data(), sizeof(value));
    bytes_.remove_prefix(sizeof(value));
    return true;
  }
  bool get_text(std::string& text);
  bool get_raw(void* data, size_t size);
  void fail() { ok_ = false; }

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && bytes_.empty(); }
  size_t left() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

// The frame of such a file: magic, uint32 version, anything, CRC-32 of all before it.
struct ByteFrame {
  enum class State { kGood, kOtherMagic, kOtherVersion, kCorrupt };
  State state = State::kOtherMagic;
  uint32_t version = 0;   // where the magic is right
  std::string_view body;  // between version and checksum, where the state is good
};
ByteFrame open_frame(std::string_view bytes, std::string_view magic, uint32_t version);

}  // namespace perfcast
