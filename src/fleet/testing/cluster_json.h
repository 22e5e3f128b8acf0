#pragma once
// Clusters as their file has them, for tests of the reader.

#include "base/json_fwd.h"
#include "fleet/jobs/cluster.h"

namespace perfcast::fleet {

Json to_json(const Cluster& cluster);

}  // namespace perfcast::fleet
