// In the place of libFuzzer's main where there is none: hands each file of the folders named to the fuzz target, once.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    std::vector<std::filesystem::path> seeds;
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i], problem)) seeds.push_back(entry.path());
    std::sort(seeds.begin(), seeds.end());
    for (const auto& seed : seeds) {
      const auto bytes = perfcast::read_file(seed.string());
      if (!bytes) {
        std::fprintf(stderr, "%s\n", to_text(bytes.error()).c_str());
        return 1;
      }
      std::printf("%s\n", seed.c_str());
      // A copy of just this size, so that the sanitizer sees a read beyond it.
      const std::vector<uint8_t> exact(bytes->begin(), bytes->end());
      LLVMFuzzerTestOneInput(exact.data(), exact.size());
      ++count;
    }
  }
  return count > 0 ? 0 : 1;
}
