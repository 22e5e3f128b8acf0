// Any bytes: no crash; runs that are read are of allowed settings, and done ones have a value above 0.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "measure/tune/run/trial_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::measure;
  static const auto file = parse_tune_file(
      R"({"schema": "perfcast.tune/1", "knobs": [{"name": "n", "from": 1, "to": 4}, {"name": "v", "values": ["a", "b"], "when": "n > 1"}], "constraints": ["n != 3"]})",
      "space");
  if (!file) std::abort();
  const auto log = parse_trial_log(std::string_view(reinterpret_cast<const char*>(data), size), file->space, "input");
  if (!log) return 0;
  if (log->whole_bytes > size) std::abort();
  for (const LoggedRun& run : log->runs) {
    if (file->space.broken_constraint(run.setting) != nullptr) std::abort();
    if (run.run.state == TrialState::kDone && !(run.run.value > 0)) std::abort();
  }
  return 0;
}
