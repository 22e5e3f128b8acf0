#include "base/report/put_known.h"

#include <cmath>

#include "base/json.h"

namespace perfcast {

void put_known(Json& json, const std::string& name, double value) {
  if (std::isfinite(value)) json[name] = value;
}

void put_known(Json& json, const std::string& name, int64_t value) { json[name] = value; }

void put_known(Json& json, const std::string& name, bool value) { json[name] = value; }

}  // namespace perfcast
