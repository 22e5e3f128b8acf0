#include "ai/train_time/train_curve.h"

#include <array>

namespace perfcast::ai {
namespace {

constexpr std::array<const char*, 6> kRunStates = {"done", "failed", "limit", "interrupted", "cut-off", "imported"};

}  // namespace

std::string name_of(TrainRunState state) { return kRunStates[static_cast<size_t>(state)]; }

std::optional<TrainRunState> parse_train_run_state(const std::string& name) {
  for (size_t i = 0; i < kRunStates.size(); ++i) {
    if (name == kRunStates[i]) return static_cast<TrainRunState>(i);
  }
  return std::nullopt;
}

bool seems_buffered(const TrainCurve& curve) {
  constexpr double kLastShare = 0.98, kLeast_s = 1;
  constexpr size_t kFewest = 3;
  if (curve.state != TrainRunState::kDone || curve.readings.size() < kFewest || curve.wall_s.value_or(0) < kLeast_s)
    return false;
  return curve.readings.front().time_s > kLastShare * *curve.wall_s;
}

}  // namespace perfcast::ai
