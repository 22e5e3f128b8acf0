#pragma once
// Numbers in reports: what isn't known is absent, never null or 0.

#include "base/json_fwd.h"

namespace perfcast::fleet {

void put_known(Json& json, const char* name, double value);

}  // namespace perfcast::fleet
