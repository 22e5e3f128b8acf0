#pragma once
// How files of results begin. Their reader is parse_result_file().

#include <string_view>

#include "measure/compare/result_file.h"

namespace perfcast::measure {

inline constexpr std::string_view kHyperfineCsvStart = "command,mean,";

// An object or a list, behind blanks.
bool begins_as_json(std::string_view text);

}  // namespace perfcast::measure
