// Planted: each name is looked for in eight folders by asking the kernel, though the same names come again and again;
// mended, where a name was found is remembered.
#include <sys/stat.h>

#include <unordered_map>
#include <vector>

#include "planted.h"

namespace {

constexpr uint64_t kLookUps = 150'000, kNames = 64;
constexpr int kRounds = 100;
constexpr const char* kFolders[] = {"/usr/local/include", "/usr/local/lib", "/usr/include", "/usr/lib",
                                    "/usr/share",         "/usr/bin",       "/bin",         "/etc"};

uint64_t folder_of(const std::string& name) {
  struct stat facts;
  for (uint64_t i = 0; i < std::size(kFolders); ++i) {
    if (stat((std::string(kFolders[i]) + "/" + name).c_str(), &facts) == 0) return i;
  }
  return std::size(kFolders);
}

}  // namespace

int main() {
  std::vector<std::string> names = {"passwd", "group", "hosts", "sh"};
  while (names.size() < kNames) names.push_back("planted-" + std::to_string(names.size()) + ".h");
  std::unordered_map<std::string, uint64_t> known;
  planted::Random random(9);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < kLookUps; ++i) {
    const std::string& name = names[random.below(kNames)];
    uint64_t folder = 0;
    if constexpr (planted::kMended) {
      const auto [at, is_new] = known.emplace(name, 0);
      if (is_new) at->second = folder_of(name);
      folder = at->second;
    } else {
      folder = folder_of(name);
    }
    uint64_t number = i * 16 + folder;
    for (int round = 0; round < kRounds; ++round) number = planted::mix(number);
    sum += number;
  }
  return planted::print_checksum(sum);
}
