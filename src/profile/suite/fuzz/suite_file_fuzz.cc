// Any bytes as a suite file of `collect`: no crash; each program of an accepted one is found by its id, and has work to
// do.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "profile/suite/suite.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto suite = parse_suite(text, "input");
  if (!suite) return 0;
  for (const SuiteProgram& entry : suite->programs) {
    const SuiteProgram* found = suite->find(entry.program.id);
    if (found == nullptr || found != &entry) std::abort();
    if (!matches_pattern("*", entry.program.id)) std::abort();
    static_cast<void>(matches_pattern(entry.label, entry.program.id));
    if (entry.run.tool == "command" ? entry.run.command.empty() : !(native_work_units(entry.run) > 0)) std::abort();
    for (const auto& step : entry.run.prepare) {
      if (step.empty()) std::abort();
    }
  }
  return 0;
}
