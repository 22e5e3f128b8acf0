#pragma once
// A tuning as a page: settings as parallel coordinates, what each knob is worth, how the best was found.

#include <string>

#include "measure/tune/run/tuning.h"

namespace perfcast::measure {

// Deterministic; all text is escaped.
std::string tuning_html(const Tuning& tuning);

}  // namespace perfcast::measure
