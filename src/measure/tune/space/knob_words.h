#pragma once
// A space of the command line: one word for each knob, NAME=VALUES.

#include <string>
#include <vector>

#include "base/result.h"
#include "measure/tune/space/space_file.h"

namespace perfcast::measure {

// VALUES: "1,2,4"; "1..9", every whole number, or "1..9..2" with a step; @VALUE at the end is the default, else the
// first is. The kind follows from the name, the values and the command: "threads" of whole numbers are threads; values
// that begin with - , or an empty one, are flags; a NAME in capitals that the command has no {NAME} of is a variable of
// the environment; others stand for {NAME}. Errors: "bad-usage" with every mistake, and those of parse_tune_file().
Result<TuneFile> knobs_as_space(const std::vector<std::string>& knobs, const std::vector<std::string>& command);

}  // namespace perfcast::measure
