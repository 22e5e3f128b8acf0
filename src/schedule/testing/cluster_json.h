#pragma once
// Clusters as their file has them, for tests of the reader.

#include "base/json_fwd.h"
#include "schedule/jobs/cluster.h"

namespace perfcast {

Json to_json(const Cluster& cluster);

}  // namespace perfcast
