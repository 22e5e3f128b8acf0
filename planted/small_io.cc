// Planted: a file is read record by record, one read(2) for each 16 bytes; mended, 64 KiB at a time.
#include <array>
#include <vector>

#include "planted.h"

namespace {

constexpr size_t kRecords = 1 << 19;
constexpr int kPasses = 10;
constexpr int kRounds = 8;

struct Record {
  uint64_t key;
  uint64_t value;
};
constexpr size_t kAtOnce = planted::kMended ? 65536 / sizeof(Record) : 1;

uint64_t digest(const Record& record, uint64_t seed) {
  for (int round = 0; round < kRounds; ++round) seed = planted::mix(seed + record.key) ^ record.value;
  return seed;
}

void write_records(int file) {
  planted::Random random(1);
  std::vector<Record> records(kRecords);
  for (Record& record : records) record = {random.next(), random.next()};
  planted::write_all(file, records.data(), records.size() * sizeof(Record));
}

}  // namespace

int main() {
  const int file = planted::temporary_file();
  write_records(file);
  std::array<Record, kAtOnce> records;
  uint64_t checksum = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    planted::require(lseek(file, 0, SEEK_SET) == 0, "lseek");
    ssize_t bytes = 0;
    while ((bytes = read(file, records.data(), sizeof records)) > 0) {
      for (size_t i = 0; i < static_cast<size_t>(bytes) / sizeof(Record); ++i) checksum = digest(records[i], checksum);
    }
    planted::require(bytes == 0, "read");
  }
  close(file);
  return planted::print_checksum(checksum);
}
