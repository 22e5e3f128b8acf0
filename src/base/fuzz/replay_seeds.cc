// In the place of libFuzzer's main: hands each file of a folder to a fuzz target, once.
//
//   perfcast_fuzz_seeds TARGET FOLDER
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "base/fuzz/fuzz_targets.h"

int main(int argc, char** argv) {
  const FuzzTarget* target = kFuzzTargets;
  while (argc == 3 && target->name != nullptr && std::strcmp(target->name, argv[1]) != 0) ++target;
  if (argc != 3 || target->name == nullptr) {
    std::fputs("usage: perfcast_fuzz_seeds TARGET FOLDER; targets:", stderr);
    for (const FuzzTarget* each = kFuzzTargets; each->name != nullptr; ++each) std::fprintf(stderr, " %s", each->name);
    std::fputs("\n", stderr);
    return 2;
  }
  std::vector<std::filesystem::path> seeds;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2], problem)) seeds.push_back(entry.path());
  std::sort(seeds.begin(), seeds.end());
  for (const auto& seed : seeds) {
    const auto bytes = perfcast::read_bytes(seed.string());
    if (!bytes) {
      std::fprintf(stderr, "%s\n", to_text(bytes.error()).c_str());
      return 1;
    }
    std::printf("%s\n", seed.c_str());
    // A copy of just this size, so that the sanitizer sees a read beyond it.
    const std::vector<uint8_t> exact(bytes->begin(), bytes->end());
    target->run(exact.data(), exact.size());
  }
  return seeds.empty() ? 1 : 0;
}
