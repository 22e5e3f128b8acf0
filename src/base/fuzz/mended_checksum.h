#pragma once
// For fuzz targets of formats that end in a CRC-32: without it, nothing behind the check would ever be reached.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/bytes.h"

// The input with its last four bytes replaced by the checksum of what stands before them.
inline std::string with_mended_checksum(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.size() > 4) {
    const size_t content = bytes.size() - 4;
    const uint32_t sum = perfcast::crc32_of(std::string_view(bytes).substr(0, content));
    std::memcpy(bytes.data() + content, &sum, 4);
  }
  return bytes;
}
