#include "fleet/slurm/partitions.h"

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::fleet {
namespace {

constexpr size_t kLargestFileBytes = size_t{4} << 20;
constexpr size_t kMostPartitions = 1000;
constexpr size_t kLongestName = 128;
constexpr const char* kSchema = "perfcast.partitions/1";

Error bad_partition(const std::string& message, const std::string& where, const std::string& expected) {
  return {"bad-partition", message, where, expected};
}

}  // namespace

bool is_plain_name(std::string_view name) {
  if (name.empty() || name.size() > kLongestName || name[0] == '-') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '+' || c == '-';
  });
}

Result<std::vector<SlurmPartition>> parse_partitions(std::string_view json_text, const std::string& source) {
  const auto json = parse_json(json_text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  const std::string schema = in.string("schema");
  if (!schema.empty() && schema != kSchema) in.complain("schema", printable(schema.substr(0, 80)), kSchema);
  const Json* rows = in.require_array("partitions");
  in.refuse_others();
  if (const Status status = in.finish(); !status) return status.error();
  if (rows->empty() || rows->size() > kMostPartitions) {
    return bad_partition("the file states " + std::to_string(rows->size()) + " partitions", source,
                         "1 to " + std::to_string(kMostPartitions) + " partitions");
  }
  std::vector<SlurmPartition> partitions;
  std::set<std::string> names;
  for (size_t i = 0; i < rows->size(); ++i) {
    JsonReader row((*rows)[i], source + ": partitions[" + std::to_string(i) + "]");
    SlurmPartition partition;
    partition.name = row.string("name");
    partition.platform = row.string("platform");
    partition.price_per_hour = row.optional_number("price_per_hour");
    if (partition.price_per_hour && !(*partition.price_per_hour > 0)) {
      row.complain("price_per_hour", "a price that is not above 0", "a price, or no such field");
    }
    if (const auto cores = row.optional_number("cores")) {
      if (*cores >= 1 && *cores <= 1e6 && *cores == static_cast<double>(static_cast<int64_t>(*cores))) {
        partition.cores = static_cast<int64_t>(*cores);
      } else {
        row.complain("cores", "no count of cores", "a whole number from 1 on");
      }
    }
    partition.memory_bytes = row.optional_number("memory_bytes");
    if (partition.memory_bytes && !(*partition.memory_bytes > 0)) {
      row.complain("memory_bytes", "memory that is not above 0", "bytes of a node, or no such field");
    }
    row.refuse_others();
    if (const Status status = row.finish(); !status) return status.error();
    if (!is_plain_name(partition.name)) {
      return bad_partition("'" + printable(partition.name.substr(0, 80)) + "' is no name of a partition", row.path(),
                           "letters, digits and . _ + -");
    }
    if (trim(partition.platform).empty()) {
      return bad_partition("partition " + partition.name + " has an empty platform", row.path(),
                           "a platform of the bundle: perfcast predict lists them");
    }
    if (!names.insert(partition.name).second) {
      return bad_partition("partition " + partition.name + " is stated twice", row.path(), "one entry per partition");
    }
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

Result<std::vector<SlurmPartition>> read_partitions(const std::string& path) {
  const auto text = read_file(path, kLargestFileBytes);
  if (!text) return text.error();
  return parse_partitions(*text, path);
}

}  // namespace perfcast::fleet
