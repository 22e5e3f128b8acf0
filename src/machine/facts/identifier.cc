#include "machine/facts/identifier.h"

#include <cstdint>

#include "base/text.h"

namespace perfcast {
namespace {

// Bytes of the code point that `text` begins with; 0 where it is no UTF-8 (RFC 3629).
size_t utf8_length(std::string_view text, uint32_t& code) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t first = byte(0);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first < 0xe0                  ? 0
                        : first < 0xf0                  ? 3
                        : first < 0xf5                  ? 4
                                                        : 0;
  if (length == 0 || text.size() < length) return 0;
  code = length == 1 ? first : first & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : length;
}

// Beyond ASCII, by blocks: Latin-1's signs, punctuation and symbols, ideographic punctuation, private use and emoji are
// none.
bool is_letter(uint32_t code) {
  return code >= 0xc0 && code != 0xd7 && code != 0xf7 && !(code >= 0x2000 && code < 0x2c00) &&
         !(code >= 0x3000 && code < 0x3040) && !(code >= 0xe000 && code < 0xf900) &&
         !(code >= 0xfe00 && code < 0xfe70) && !(code >= 0xff00 && code < 0xff10) &&
         !(code >= 0xfff0 && code < 0x10000) && !(code >= 0x1f000 && code < 0x20000) && code < 0xe0000;
}

}  // namespace

std::string identifier(std::string_view name, std::string_view also, char between) {
  const std::string text = lower_case(name);
  std::string result;
  for (size_t i = 0; i < text.size();) {
    uint32_t code = 0;
    const size_t length = utf8_length(std::string_view(text).substr(i), code);
    const char c = text[i];
    const bool is_kept = length == 1 ? (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || also.find(c) != also.npos
                                     : length > 1 && is_letter(code);
    if (is_kept) {
      result.append(text, i, length);
    } else if (!result.empty() && result.back() != between) {
      result += between;
    }
    i += length == 0 ? 1 : length;
  }
  return result;
}

}  // namespace perfcast
