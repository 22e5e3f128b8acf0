#include "base/bytes.h"

#include <zlib.h>

namespace perfcast {

uint32_t crc32_of(std::string_view bytes, uint32_t sum) {
  return static_cast<uint32_t>(crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string ByteWriter::finish() && {
  put(crc32_of(bytes_));
  return std::move(bytes_);
}

bool ByteReader::get_raw(void* data, size_t size) {
  if (!ok_ || size > bytes_.size()) {
    ok_ = false;
    return false;
  }
  if (size > 0) std::memcpy(data, bytes_.data(), size);
  bytes_.remove_prefix(size);
  return true;
}

bool ByteReader::get_text(std::string& text) {
  uint64_t size = 0;
  if (!get(size) || size > bytes_.size()) {
    ok_ = false;
    return false;
  }
  text = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return true;
}

ByteFrame open_frame(std::string_view bytes, std::string_view magic, uint32_t version) {
  ByteFrame frame;
  uint32_t sum = 0;
  if (bytes.size() < magic.size() + sizeof(frame.version) + sizeof(sum) || !bytes.starts_with(magic)) return frame;
  std::memcpy(&frame.version, bytes.data() + magic.size(), sizeof(frame.version));
  if (frame.version != version) {
    frame.state = ByteFrame::State::kOtherVersion;
    return frame;
  }
  std::memcpy(&sum, bytes.data() + bytes.size() - sizeof(sum), sizeof(sum));
  bytes.remove_suffix(sizeof(sum));
  if (sum != crc32_of(bytes)) {
    frame.state = ByteFrame::State::kCorrupt;
    return frame;
  }
  frame.state = ByteFrame::State::kGood;
  frame.body = bytes.substr(magic.size() + sizeof(frame.version));
  return frame;
}

}  // namespace perfcast
