#pragma once
// How files of results begin. Their reader is parse_result_file().

#include <string_view>

#include "measure/compare/result_file.h"

namespace perfcast::measure {

// "command,mean," between whatever separators and quotes.
bool begins_as_hyperfine_csv(std::string_view text);

// An object or a list, behind blanks.
bool begins_as_json(std::string_view text);

}  // namespace perfcast::measure
