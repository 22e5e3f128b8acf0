#pragma once
// What `prepare` leaves for `run`: a compressed buffer whose round trip was checked, and how to tell a right result.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "profile/suite/harness/codec.h"

namespace perfcast::harness {

struct Archive {
  uint64_t original_bytes = 0;
  uint32_t original_checksum = 0;
  uint32_t compressed_checksum = 0;
  Buffer compressed{0};
};

// Compresses, decompresses, compares. Error "round-trip" where what comes out differs from what went in.
Result<Archive> make_archive(Codec& codec, View input);

Status write_archive(const Archive& archive, const std::string& path);
// Errors: "bad-archive". Checks the compressed bytes only where `with_data`; without, `compressed` stays empty.
Result<Archive> read_archive(const std::string& path, bool with_data);

}  // namespace perfcast::harness
