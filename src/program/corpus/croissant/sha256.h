#pragma once
// SHA-256 (FIPS 180-4), by OpenSSL.

#include <string>
#include <string_view>

namespace perfcast::program {

std::string sha256_hex(std::string_view bytes);  // 64 lower-case digits

}  // namespace perfcast::program
