#include "base/known_keys.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace perfcast {

void complain_of_unknown(JsonReader& in, const Json& object, const std::vector<std::string>& known) {
  if (!object.is_object()) return;
  size_t named = known.size();
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    in.complain(printable(key.substr(0, 60)), "an unknown key", "one of " + nearest_names(key, known, named));
    named = 3;
  }
}

}  // namespace perfcast
