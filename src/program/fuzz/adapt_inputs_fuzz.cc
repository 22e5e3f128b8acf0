// Runs files and facts of platforms from outside: no crash; what is read has names, and numbers that can be used; how
// like known platforms the new one is can be told.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "program/adapt/adapt_platform.h"
#include "program/model/adapt/platform_kernel.h"

namespace {

// Of two designs, with facts and flags that inputs share or don't.
const std::vector<perfcast::Platform>& known_platforms() {
  static const std::vector<perfcast::Platform> platforms = [] {
    std::vector<perfcast::Platform> made;
    for (int i = 0; i < 4; ++i) {
      perfcast::Platform platform;
      platform.id = platform.name = "known" + std::to_string(i);
      platform.arch = "x86_64";
      platform.vendor = i % 2 == 0 ? "AMD" : "Intel";
      platform.cpu_family = i % 2 == 0 ? 25 : 6;
      platform.model = i % 2 == 0 ? 17 : 106;
      platform.facts = {
          {"max_hz", 3e9 + 1e8 * i}, {"l2_bytes", i < 2 ? 524288 : 1048576}, {"l3_bytes", 3.2e7 * (1 + i)}};
      platform.flags = i < 2 ? std::vector<std::string>{"avx2", "aes"} : std::vector<std::string>{"avx2", "avx512f"};
      made.push_back(std::move(platform));
    }
    return made;
  }();
  return platforms;
}

void check_likeness(const perfcast::Platform& platform) {
  std::vector<perfcast::Platform> platforms = known_platforms();
  platforms.push_back(platform);
  const perfcast::program::PlatformLikeness likeness(platforms, {0, 1, 2, 3});
  const Eigen::MatrixXd covariance = likeness.covariance({}, {0, 1, 2, 3}, {4});
  if (!covariance.allFinite() || !std::isfinite(likeness.distance(4, 0))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::program;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto runs = parse_adapt_runs(text, "input")) {
    for (const AdaptRun& run : *runs) {
      const double of_one = run.seconds / run.work_units;
      if (run.program.empty() || !(run.seconds > 0) || !(run.work_units > 0) || !(of_one > 0) || !std::isfinite(of_one))
        std::abort();
    }
  }
  if (const auto platform = parse_platform_facts(text, "input")) {
    if (platform->name.empty() || platform->id.empty()) std::abort();
    for (const auto& [name, value] : platform->facts) {
      if (!(value >= 0)) std::abort();
    }
    if (const auto notes = check_known_facts(*platform, known_platforms(), "input")) check_likeness(*platform);
  }
  return 0;
}
