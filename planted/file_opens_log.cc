// Planted: a log is opened, written to and closed for each line; mended, it stays open.
#include "planted.h"

namespace {

constexpr uint64_t kLines = 300'000;
constexpr int kRounds = 120;

int open_log(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  planted::require(file >= 0, path.c_str());
  return file;
}

}  // namespace

int main() {
  std::string path = std::string(planted::temporary_folder()) + "/planted-XXXXXX";
  const int made = mkstemp(path.data());
  planted::require(made >= 0, path.c_str());
  close(made);
  int log = open_log(path);
  uint64_t sum = 0;
  for (uint64_t line = 0; line < kLines; ++line) {
    uint64_t number = line;
    for (int round = 0; round < kRounds; ++round) number = planted::mix(number);
    sum += number;
    if constexpr (!planted::kMended) {
      close(log);
      log = open_log(path);
    }
    if (line % 64 == 0) planted::write_all(log, &number, sizeof(number));
  }
  close(log);
  unlink(path.c_str());
  return planted::print_checksum(sum);
}
