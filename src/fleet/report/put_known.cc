#include "fleet/report/put_known.h"

#include <cmath>

#include "base/json.h"

namespace perfcast::fleet {

void put_known(Json& json, const char* name, double value) {
  if (std::isfinite(value)) json[name] = value;
}

}  // namespace perfcast::fleet
