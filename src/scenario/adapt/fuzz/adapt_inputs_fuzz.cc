// Runs files and facts of platforms from outside: no crash; what is read has names, and numbers that can be used.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "scenario/adapt/adapt_platform.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
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
  }
  return 0;
}
