// Planted: a journal waits for the disk after each record; mended, once after all of them.
#include <array>

#include "planted.h"

namespace {

constexpr int kRecords = 300;
constexpr int kRounds = 130'000;  // what a record costs to compute

using Record = std::array<uint64_t, 16>;

Record make_record(uint64_t seed) {
  Record record;
  for (int round = 0; round < kRounds; ++round) seed = planted::mix(seed);
  for (uint64_t& word : record) word = seed = planted::mix(seed);
  return record;
}

}  // namespace

int main() {
  const int file = planted::temporary_file();
  uint64_t checksum = 0;
  for (int i = 0; i < kRecords; ++i) {
    const Record record = make_record(static_cast<uint64_t>(i));
    planted::write_all(file, record.data(), sizeof record);
    if constexpr (!planted::kMended) planted::require(fdatasync(file) == 0, "fdatasync");
    checksum += record.back();
  }
  planted::require(fdatasync(file) == 0, "fdatasync");
  close(file);
  return planted::print_checksum(checksum);
}
