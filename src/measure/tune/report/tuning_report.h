#pragma once
// A tuning for people and for machines.

#include <string>

#include "base/json_fwd.h"
#include "measure/tune/replay/recorded_space.h"
#include "measure/tune/replay/replay.h"
#include "measure/tune/run/tuning.h"

namespace perfcast::measure {

inline constexpr const char* kTuningSchema = "perfcast.tuning/1";

std::string tuning_text(const Tuning& tuning);
// Times under default_s and best_s, printed numbers under default_value and best_value.
Json tuning_json(const Tuning& tuning);

// How strategies did over their seeds: after a few trials, and at the end.
std::string replay_text(const RecordedSpace& space, const Replay& replay, const std::string& source);
// The tuning of the first strategy's first seed with "replay" {points, optimum_s, ..., rows} added.
void add_replay(const RecordedSpace& space, const Replay& replay, Json& tuning);

// How a value of the objective reads: a time, or a number.
std::string objective_value_text(double value, const Objective& objective);

}  // namespace perfcast::measure
