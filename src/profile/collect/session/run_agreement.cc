#include "profile/collect/session/run_agreement.h"

#include <fmt/format.h>

#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kShortestCompared_s = 0.05;
// A chain of loads that all miss the caches and the TLB still runs more than twice as many.
constexpr double kFewestInstructionsPerSecond = 5e6;

double counted(const MetricValues& counters, const std::string& name) {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : found->second;
}

std::string ending(const Collection& run) {
  return run.signal ? "by signal " + signal_text(*run.signal)
                    : "with exit code " + std::to_string(run.exit_code.value_or(0));
}

}  // namespace

std::optional<ProfileWarning> differing_run(const Collection& native, const Collection& instrumented) {
  if (instrumented.seen_ratio) return std::nullopt;
  const double user_s = counted(native.counters, "user_s");
  const double instructions = counted(instrumented.counters, "instructions_count");
  std::string what;
  if (native.exit_code != instrumented.exit_code || native.signal != instrumented.signal) {
    what = fmt::format("natively the program ended {}, instrumented {}", ending(native), ending(instrumented));
  } else if (user_s >= kShortestCompared_s && instrumented.unseen.empty() && instructions > 0 &&
             instructions < kFewestInstructionsPerSecond * user_s) {
    what = fmt::format("natively the program was busy for {}, instrumented it ran {} instructions only",
                       human_seconds(user_s), human_number(instructions));
  } else {
    return std::nullopt;
  }
  what += ": it did other work under the emulator, whose counts are left out";
  if (!instrumented.last_words.empty()) what += "; its last words: " + instrumented.last_words;
  return ProfileWarning{
      "runs-differ", what,
      "run it again where it does not do the same each time; the emulator has no io_uring and starts no program from "
      "memory (memfd): turn that off in the program, or measure the native part alone: perfcast profile"};
}

}  // namespace perfcast
