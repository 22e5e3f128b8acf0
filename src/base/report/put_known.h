#pragma once
// Values of a result as JSON: what isn't known is absent, never null or 0.

#include <cstdint>
#include <optional>
#include <string>

#include "base/json_fwd.h"

namespace perfcast {

void put_known(Json& json, const std::string& name, double value);  // not known: what isn't finite
void put_known(Json& json, const std::string& name, int64_t value);
void put_known(Json& json, const std::string& name, bool value);

template <typename Value>
void put_known(Json& json, const std::string& name, const std::optional<Value>& value) {
  if (value) put_known(json, name, *value);
}

}  // namespace perfcast
