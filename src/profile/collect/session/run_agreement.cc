#include "profile/collect/session/run_agreement.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kShortestCompared_s = 0.05;
// A chain of loads that all miss the caches and the TLB still runs more than twice as many.
constexpr double kFewestInstructionsPerSecond = 5e6;
// Emulated, a program that is bound to a clock takes as long as natively, and any other longer.
constexpr double kNoEmulatorIsFaster = 0.5;
// A clock or a number more or less in a line of output is no other work.
constexpr double kOtherOutput = 2, kLeastOutputBytes = 16;

double counted(const MetricValues& counters, const std::string& name) {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : found->second;
}

std::string ending(const Collection& run) {
  return run.signal ? "by signal " + signal_text(*run.signal)
                    : "with exit code " + std::to_string(run.exit_code.value_or(0));
}

bool alike(double bytes, double other_bytes) {
  return std::max(bytes, other_bytes) <= kOtherOutput * std::min(bytes, other_bytes) + kLeastOutputBytes;
}

std::string bytes_of(const OutputDigest& output) { return fmt::format("{:.0f} bytes", output.bytes); }

}  // namespace

std::optional<OutputDigest> repeated_output(const Collection& native) {
  const std::vector<OutputDigest>& outputs = native.outputs;
  if (outputs.size() < 2 || outputs.front() != outputs.back()) return std::nullopt;
  return outputs.front();
}

std::optional<ProfileWarning> differing_output(const Collection& native, const Collection& instrumented) {
  const auto output = repeated_output(native);
  if (!output || instrumented.outputs.empty() || instrumented.seen_ratio) return std::nullopt;
  const OutputDigest& other = instrumented.outputs.front();
  if (other == *output) return std::nullopt;
  return ProfileWarning{"output-differs",
                        fmt::format("under the emulator the program wrote something else ({}) than natively, where two "
                                    "runs wrote the same ({}): it may have done other work",
                                    bytes_of(other), bytes_of(*output)),
                        "nothing where the output tells the time or the processor; else a look at what it writes: "
                        "perfcast profile --mix-only -- CMD"};
}

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
  } else if (user_s >= kShortestCompared_s && instrumented.run_user_s && instrumented.unseen.empty() &&
             *instrumented.run_user_s < kNoEmulatorIsFaster * user_s) {
    what = fmt::format("natively the program was busy for {}, instrumented for {}, though it is slower then",
                       human_seconds(user_s), human_seconds(*instrumented.run_user_s));
  } else if (const auto output = repeated_output(native);
             output && !instrumented.outputs.empty() && !alike(output->bytes, instrumented.outputs.front().bytes)) {
    what = fmt::format("two native runs wrote the same {}, the instrumented one {}", bytes_of(*output),
                       bytes_of(instrumented.outputs.front()));
  } else {
    return std::nullopt;
  }
  what += ": it did other work under the emulator, whose counts are left out";
  if (!instrumented.last_words.empty()) what += "; its last words: " + instrumented.last_words;
  return ProfileWarning{"runs-differ", what,
                        "--prepare with what makes each run do the same; the emulator has no io_uring: turn that off "
                        "in the program, or measure the native part alone: perfcast profile"};
}

}  // namespace perfcast
