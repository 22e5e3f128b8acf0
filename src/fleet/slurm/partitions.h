#pragma once
// Which platform each Slurm partition consists of, as a cluster's owner states it (schema perfcast.partitions/1):
//
//   {"schema": "perfcast.partitions/1",
//    "partitions": [{"name": "epyc", "platform": "AMD EPYC 7763", "price_per_hour": 1.2, "cores": 64,
//                    "memory_bytes": 274877906944}]}

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast::fleet {

struct SlurmPartition {
  std::string name;                         // as Slurm knows it
  std::string platform;                     // as a bundle names it
  std::optional<double> price_per_hour;     // of a node, any currency; > 0
  std::optional<int64_t> cores;             // of a node
  std::optional<double> memory_bytes = {};  // of a node
};

// All mistakes at once ("bad-json-field", unknown keys with the near ones); "bad-partition" for names that Slurm can't
// have, two of a name, or none.
Result<std::vector<SlurmPartition>> parse_partitions(std::string_view json_text, const std::string& source);
Result<std::vector<SlurmPartition>> read_partitions(const std::string& path);

// Names of partitions and programs in files and on command lines of Slurm: letters, digits, and . _ + -, 1 to 128.
bool is_plain_name(std::string_view name);

}  // namespace perfcast::fleet
