#pragma once
// One function per type says what of it is saved, and serves both ways: with a writer it puts, with a reader it gets. A
// reader never allocates more than the bytes that are left could hold, and gives zeros once something did not fit.

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "base/bytes.h"

namespace perfcast::measure {

class Archive {
 public:
  explicit Archive(ByteWriter& out) : out_(&out) {}
  explicit Archive(ByteReader& in) : in_(&in) {}

  static constexpr uint32_t kVersion = 4;  // of the bytes
  bool reading() const { return in_ != nullptr; }
  bool ok() const { return in_ == nullptr || in_->ok(); }
  void fail() {
    if (in_ != nullptr) in_->fail();
  }

  template <typename T>
  requires std::is_arithmetic_v<T>
  void value(T& value) {
    if (out_ != nullptr) {
      out_->put(value);
    } else if (!in_->get(value)) {
      value = T{};
    }
  }
  template <typename... Ts>
  void values(Ts&... all) {
    (value(all), ...);
  }
  void value(bool& value) {
    uint8_t byte = value ? 1 : 0;
    this->value(byte);
    value = byte == 1;
    if (byte > 1) fail();
  }
  void text(std::string& text) {
    if (out_ != nullptr) {
      out_->put_text(text);
    } else if (!in_->get_text(text)) {
      text.clear();
    }
  }
  // A number of elements that each take `least_bytes` or more.
  size_t count(size_t count, size_t least_bytes) {
    auto stored = static_cast<uint64_t>(count);
    value(stored);
    if (reading() && stored > in_->left() / (least_bytes == 0 ? 1 : least_bytes)) {
      fail();
      return 0;
    }
    return static_cast<size_t>(stored);
  }
  template <typename T>
  void array(std::vector<T>& values) {
    const size_t n = count(values.size(), sizeof(T));
    if (out_ != nullptr) {
      out_->put_raw(values.data(), n * sizeof(T));
      return;
    }
    values.assign(n, T{});
    if (n > 0 && !in_->get_raw(values.data(), n * sizeof(T))) values.clear();
  }
  // As array(), of a size that must be this: else the archive fails, and what was read is of no use.
  template <typename T>
  void array(std::vector<T>& values, size_t size) {
    array(values);
    if (reading() && values.size() != size) {
      fail();
      values.clear();
    }
  }
  // As many elements as the caller has room for.
  template <typename T>
  void raw(T* values, size_t n) {
    if (out_ != nullptr) {
      out_->put_raw(values, n * sizeof(T));
    } else {
      static_cast<void>(in_->get_raw(values, n * sizeof(T)));
    }
  }
  // While reading: whether so many bytes are left.
  bool has(size_t bytes) const { return in_ != nullptr && in_->ok() && in_->left() >= bytes; }

 private:
  ByteWriter* out_ = nullptr;
  ByteReader* in_ = nullptr;
};

}  // namespace perfcast::measure
