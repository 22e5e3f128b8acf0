// Any bytes as what lscpu prints, or /proc/cpuinfo has: no crash; a CPU that is found has a name, and numbers that can
// be.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "machine/facts/cpu_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const auto host = cpu_facts_from_text({reinterpret_cast<const char*>(data), size});
  if (!host) return 0;
  if (host->name.empty()) std::abort();
  for (const auto& number : {host->cpu_family, host->model, host->stepping}) {
    if (number && (*number < 0 || *number > 1'000'000)) std::abort();
  }
  for (const std::string& flag : host->cpu_flags) {
    if (flag.empty()) std::abort();
  }
  return 0;
}
