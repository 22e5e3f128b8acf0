#pragma once
// For fuzz targets of formats that end in a CRC-32: without it, nothing behind the check would ever be reached.

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>

// The input with its last four bytes replaced by the checksum of what stands before them.
inline std::string with_mended_checksum(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.size() > 4) {
    const size_t content = bytes.size() - 4;
    const auto sum = static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), content));
    std::memcpy(bytes.data() + content, &sum, 4);
  }
  return bytes;
}
