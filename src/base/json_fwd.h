#pragma once
// The name of the JSON type, for headers that only pass it on: the whole library takes a second to compile.

#include <nlohmann/json_fwd.hpp>

namespace perfcast {

using Json = nlohmann::ordered_json;

}  // namespace perfcast
