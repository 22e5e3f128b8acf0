#pragma once
// Keys of a JSON object that its format does not have: a mistyped one would otherwise count as absent. The
// complaint of the first names all that there are, the nearest first.

#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace perfcast {

class JsonReader;

void complain_of_unknown(JsonReader& in, const Json& object, const std::vector<std::string>& known);

}  // namespace perfcast
