#include "fleet/jobs/cluster_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::fleet {
namespace {

constexpr const char* kSchema = "perfcast.cluster/1";

double figure(JsonReader& in, const char* key) { return in.optional_number(key).value_or(kUnknown); }

NodeGroup group_from(JsonReader& in) {
  NodeGroup group;
  group.platform = in.string("platform");
  group.nodes = in.integer("nodes");
  group.cores_per_node = in.integer_or("cores_per_node", 1);
  group.gpus_per_node = in.integer_or("gpus_per_node", 0);
  group.memory_bytes_per_node = figure(in, "memory_bytes_per_node");
  group.idle_w_per_node = figure(in, "idle_w_per_node");
  group.busy_w_per_node = figure(in, "busy_w_per_node");
  group.price_per_node_hour = figure(in, "price_per_node_hour");
  return group;
}

// Digits only: the sign, a fraction or an exponent make it no count.
bool parse_count(std::string_view text, int64_t& count) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return false;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  return problem == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<Cluster> parse_cluster(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  JsonReader in(*json, source);
  Cluster cluster;
  const std::string schema = in.string("schema");
  if (!schema.empty() && schema != kSchema) in.complain("schema", "'" + printable(schema.substr(0, 60)) + "'", kSchema);
  cluster.currency = in.string_or("currency", "");
  cluster.note = in.string_or("note", "");
  const Json* groups = in.require_array("groups");
  in.refuse_others();
  if (Status finished = in.finish(); !finished) return finished.error();
  for (size_t i = 0; i < groups->size(); ++i) {
    JsonReader group_in((*groups)[i], fmt::format("{}.groups[{}]", source, i));
    cluster.groups.push_back(group_from(group_in));
    cluster.groups.back().cores_stated = (*groups)[i].contains("cores_per_node");
    group_in.refuse_others();
    if (Status finished = group_in.finish(); !finished) return finished.error();
  }
  if (Status checked = check_cluster(cluster); !checked) {
    Error error = checked.error();
    error.where = error.where.empty() ? source : source + "." + error.where;
    return error;
  }
  return cluster;
}

Result<Cluster> read_cluster(const std::string& path) {
  const auto text = read_file(path, size_t{1} << 24);
  if (!text) return text.error();
  return parse_cluster(*text, path);
}

Result<NodeGroup> parse_node_group(std::string_view argument) {
  const size_t equals = argument.rfind('=');
  const std::string_view counts = equals == std::string_view::npos ? "" : argument.substr(equals + 1);
  const size_t times = counts.find('x');
  const size_t plus = counts.find('+');
  NodeGroup group;
  if (equals != std::string_view::npos) group.platform = trim(argument.substr(0, equals));
  if (!group.platform.empty() && parse_count(counts, group.nodes)) {
    group.cores_stated = false;
    return group;
  }
  const bool good =
      !group.platform.empty() && times != std::string_view::npos && parse_count(counts.substr(0, times), group.nodes) &&
      parse_count(counts.substr(times + 1, plus == std::string_view::npos ? plus : plus - std::min(plus, times + 1)),
                  group.cores_per_node) &&
      (plus == std::string_view::npos || parse_count(counts.substr(plus + 1), group.gpus_per_node));
  if (good) return group;
  return Error{
      "bad-cluster", "'" + printable(argument.substr(0, 100)) + "' names no group of nodes", "",
      "PLATFORM=NODESxCORES or PLATFORM=NODESxCORES+GPUS, such as 'AMD EPYC 7R32=4x48', or INSTANCE=NODES, such as "
      "'aws c7i.xlarge=4'"};
}

Result<Cluster> parse_node_groups(const std::vector<std::string>& arguments) {
  Cluster cluster;
  for (const std::string& argument : arguments) {
    auto group = parse_node_group(argument);
    if (!group) return group.error();
    cluster.groups.push_back(*std::move(group));
  }
  if (Status checked = check_cluster(cluster); !checked) return checked.error();
  return cluster;
}

}  // namespace perfcast::fleet
