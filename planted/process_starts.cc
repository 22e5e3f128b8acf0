// Planted: the last part of each path is taken by the program basename, started in a shell each time.
#include <filesystem>
#include <vector>

#include "planted.h"

namespace {

constexpr int kDocuments = 350;
constexpr size_t kDocumentBytes = 3 << 17;

std::string name_of(const std::string& path) {
  if constexpr (planted::kMended) return std::filesystem::path(path).filename().string();
  FILE* output = popen(("basename " + path).c_str(), "r");
  planted::require(output != nullptr, "popen");
  char line[256] = "";
  planted::require(std::fgets(line, sizeof line, output) != nullptr, "basename");
  planted::require(pclose(output) == 0, "pclose");
  std::string name = line;
  name.pop_back();  // the end of the line
  return name;
}

uint64_t digest(const char* data, size_t size, uint64_t seed) {
  for (size_t i = 0; i < size; ++i) seed = (seed ^ static_cast<uint8_t>(data[i])) * 0x100000001b3;
  return seed;
}

}  // namespace

int main() {
  planted::Random random(1);
  std::vector<char> document(kDocumentBytes);
  for (char& letter : document) letter = static_cast<char>(random.next());
  uint64_t checksum = 0;
  for (int i = 0; i < kDocuments; ++i) {
    const std::string name = name_of("archive/" + std::to_string(i % 7) + "/document_" + std::to_string(i) + ".txt");
    checksum = digest(name.data(), name.size(), checksum);
    checksum = digest(document.data(), document.size(), checksum);
  }
  return planted::print_checksum(checksum);
}
