#include "profile/collect/native/work_done_once.h"

#include <fmt/format.h>

#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kLeastDifference_s = 0.03;
constexpr double kLess = 1.0 / 2, kFarLess = 1.0 / 3, kFewerFaults = 0.7;

}  // namespace

std::optional<ProfileWarning> work_done_once(const ProcessOutcome& first, const ProcessOutcome& later) {
  const double first_s = first.cpu_s(), later_s = later.cpu_s();
  if (first_s - later_s < kLeastDifference_s || later_s > kLess * first_s) return std::nullopt;
  if (later_s > kFarLess * first_s && later.minor_faults > kFewerFaults * first.minor_faults) return std::nullopt;
  return ProfileWarning{
      "work-done-once",
      fmt::format("the first run took {} of CPU time, the next one {}: it found its work done, so that "
                  "nothing more of it can be measured",
                  human_seconds(first_s), human_seconds(later_s)),
      "what undoes the work before each run, such as --prepare 'make clean'"};
}

}  // namespace perfcast
