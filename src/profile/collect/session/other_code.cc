#include "profile/collect/session/other_code.h"

#include <fmt/format.h>

#include "machine/facts/core_design.h"

namespace perfcast {
namespace {

constexpr double kShortestJudged_s = 0.03;
// No core retires more than about 6 instructions at 5 GHz for long.
constexpr double kMostInstructionsPerSecond = 30e9;
// A model of the host's own core errs by less than this, and no clock is higher.
constexpr double kModelErrs = 1.3, kHighestClock_hz = 6e9;

double value_of(const MetricValues& counters, const std::string& name) {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : found->second;
}

}  // namespace

std::optional<ProfileWarning> other_code_warning(const MetricValues& counters, double native_s,
                                                 const std::string& design) {
  if (!(native_s >= kShortestJudged_s)) return std::nullopt;
  const double instructions = value_of(counters, "instructions_count");
  const double cycles = design.empty() ? 0 : value_of(counters, core_cycles_metric(design));
  const double rate = instructions / native_s;
  std::string why;
  if (rate > kMostInstructionsPerSecond) {
    why = fmt::format("{:.0f} G instructions per second can't be", rate * 1e-9);
  } else if (cycles > kModelErrs * kHighestClock_hz * native_s) {
    why = fmt::format(
        "{:.0f} G instructions per second can't be of this code, of which the host's core should run {:.2g} a "
        "cycle",
        rate * 1e-9, instructions / cycles);
  } else {
    return std::nullopt;
  }
  return ProfileWarning{
      "other-code-path",
      why +
          ": the emulated processor lacks an extension that the program uses natively, so that other "
          "code was counted",
      "no conclusion from this profile about code that uses such an extension; where the library has a "
      "setting that turns it off, a profile with it is of one code"};
}

}  // namespace perfcast
