#pragma once
// Bytes as they come to lines, in bounded memory.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace perfcast::measure {

class LineSplitter {
 public:
  static constexpr size_t kMostLine_bytes = size_t{1} << 20;

  // Calls take(line) for each that `bytes` ends; lines have no end of line. take returns false to stop: the rest of
  // `bytes` is dropped.
  template <typename Take>
  bool feed(std::string_view bytes, const Take& take) {
    while (!bytes.empty()) {
      const void* const found = std::memchr(bytes.data(), '\n', bytes.size());
      if (found == nullptr) {
        keep(bytes);
        return true;
      }
      const auto size = static_cast<size_t>(static_cast<const char*>(found) - bytes.data());
      const std::string_view piece = bytes.substr(0, size);
      bytes.remove_prefix(size + 1);
      if (partial_.empty() && !too_long_) {
        if (!take(piece)) return false;
        continue;
      }
      keep(piece);
      if (!finish(take)) return false;
    }
    return true;
  }
  // The last line, which nothing ended.
  template <typename Take>
  bool finish(const Take& take) {
    const bool dropped = too_long_;
    too_long_ = false;
    std::string line;
    line.swap(partial_);
    if (dropped) {
      ++long_lines_;
      return true;
    }
    return line.empty() || take(std::string_view(line));
  }
  void forget() {
    partial_.clear();
    too_long_ = false;
  }
  size_t partial_bytes() const { return partial_.size(); }
  uint64_t long_lines() const { return long_lines_; }

 private:
  void keep(std::string_view piece) {
    too_long_ = too_long_ || partial_.size() + piece.size() > kMostLine_bytes;
    if (too_long_) {
      partial_.clear();
    } else {
      partial_ += piece;
    }
  }

  std::string partial_;
  bool too_long_ = false;
  uint64_t long_lines_ = 0;
};

}  // namespace perfcast::measure
