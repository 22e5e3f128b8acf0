#pragma once
// A tuning as a page: settings as parallel coordinates, what each knob is worth, how the best was found.

#include <string>

#include "tune/run/tuning.h"

namespace perfcast {

// Deterministic; all text is escaped.
std::string tuning_html(const Tuning& tuning);

}  // namespace perfcast
