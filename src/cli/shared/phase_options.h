#pragma once
// How many phases are looked for: "auto", or a number.

#include <string>

#include "base/result.h"
#include "measure/phases/phase_description.h"

namespace perfcast::cli {

// `option` is where a mistake is: "bad-usage".
Result<measure::PhaseRequest> phase_request(const std::string& text, const std::string& option);

}  // namespace perfcast::cli
