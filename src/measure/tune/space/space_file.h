#pragma once
// perfcast.tune/1: what may be set, what must hold, and what counts (docs/tune.md).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/tune/space/space.h"

namespace perfcast::measure {

inline constexpr const char* kTuneSchema = "perfcast.tune/1";

enum class ObjectiveMeasure { kWall, kCpu, kPrinted };

struct Objective {
  ObjectiveMeasure measure = ObjectiveMeasure::kWall;
  std::string pattern;    // kPrinted: ECMAScript, whose first group is the number
  bool maximise = false;  // kPrinted alone
};

struct TuneFile {
  TuneSpace space;
  Objective objective;
  std::vector<std::string> command;  // may be empty: the command line has it
  std::string prepare;               // a shell's line, once for each setting and not timed; empty: none
  std::string check;                 // a shell's line after a run: status 0 is right
  bool same_output = false;          // the program prints what it prints with the default setting
  std::optional<double> peak_memory_bytes;
};

// Most values of one knob.
inline constexpr size_t kMostKnobValues = 4096;

// Errors: "bad-tune-file" with every mistake and its place, also such of conditions; "empty-space" and
// "constrained-space" (TuneSpace::check_has_points()); "default-not-allowed". Reading measures nothing.
Result<TuneFile> parse_tune_file(std::string_view text, const std::string& source);

}  // namespace perfcast::measure
