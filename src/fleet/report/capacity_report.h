#pragma once
// A capacity plan for people and for machines.

#include <string>

#include "base/json_fwd.h"
#include "fleet/capacity/capacity.h"

namespace perfcast::fleet {

// Tables: the plan, what it gives, how far it is from the bound, the best of other platforms, forecast errors, growth,
// notes.
std::string capacity_text(const CapacityAnswer& answer);

// perfcast.capacity/1: plan {platform: nodes}, cost (per hour), meets, second_best (null where there is none), and what
// the fields' names say. What isn't known is absent.
Json capacity_json(const CapacityAnswer& answer);

}  // namespace perfcast::fleet
