// Planted: a file of settings is opened and read for each record; mended, once.
#include <fstream>

#include "planted.h"

namespace {

constexpr uint64_t kRecords = 150'000;
constexpr int kRounds = 150;

uint64_t read_factor(const std::string& path) {
  std::ifstream file(path);
  uint64_t factor = 0;
  file >> factor;
  return factor;
}

uint64_t score(uint64_t record, uint64_t factor) {
  for (int round = 0; round < kRounds; ++round) record = planted::mix(record * factor);
  return record;
}

}  // namespace

int main() {
  std::string path = std::string(planted::temporary_folder()) + "/planted-XXXXXX";
  const int file = mkstemp(path.data());
  planted::require(file >= 0, path.c_str());
  planted::write_all(file, "7\n", 2);
  close(file);
  uint64_t sum = 0, factor = read_factor(path);
  for (uint64_t record = 0; record < kRecords; ++record) {
    if constexpr (!planted::kMended) factor = read_factor(path);
    sum += score(record, factor);
  }
  unlink(path.c_str());
  return planted::print_checksum(sum);
}
