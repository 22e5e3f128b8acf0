#pragma once
// Numbers of a trace: seven bits to a byte, lowest first, the top bit where more follow.

#include <cstdint>
#include <string>
#include <string_view>

namespace perfcast {

// False where the bytes end first or the number has more than 64 bits; what was read is taken off.
inline bool take_number(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

inline void put_number(std::string& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
  bytes += static_cast<char>(value);
}

}  // namespace perfcast
