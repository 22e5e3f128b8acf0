#include "program/corpus/importers/sparecores_platforms.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/statistics.h"
#include "base/table_row.h"
#include "base/text.h"
#include "machine/facts/caches.h"
#include "machine/facts/chip_names.h"
#include "machine/facts/instance_facts.h"
#include "machine/facts/processor.h"
#include "program/corpus/importers/sparecores_importer.h"

namespace perfcast::program {
namespace {

constexpr double kSlowestHz = 0.4e9, kFastestHz = 10e9;

std::optional<double> cache_bytes(const std::string& text) {
  const auto cache = parse_cache_instances(text);
  return cache ? std::optional(cache->bytes) : std::nullopt;
}

std::optional<double> plausible_hz(std::optional<double> hz) {
  return hz && *hz >= kSlowestHz && *hz <= kFastestHz ? hz : std::nullopt;
}

// "Intel(R) Xeon(R) CPU @ 2.20GHz" -> 2.2e9
std::optional<double> hz_in_name(const std::string& cpu_model) {
  const std::string text = lower_case(cpu_model);
  const size_t end = text.find("ghz");
  if (end == std::string::npos) return std::nullopt;
  const size_t start = text.find_last_not_of("0123456789.", end == 0 ? 0 : end - 1);
  const size_t first = start == std::string::npos ? 0 : start + 1;
  const auto ghz = parse_number(std::string_view(text).substr(first, end - first));
  return ghz ? plausible_hz(*ghz * 1e9) : std::nullopt;
}

void set_fact(SparecoresServer& server, const char* name, std::optional<double> value) {
  if (value) server.facts[name] = *value;
}

void read_facts(const TableRow& row, SparecoresServer& server) {
  set_fact(server, "l1d_bytes", cache_bytes(row.text("l1d")));
  set_fact(server, "l1i_bytes", cache_bytes(row.text("l1i")));
  set_fact(server, "l2_bytes", cache_bytes(row.text("l2")));
  set_fact(server, "l3_bytes", cache_bytes(row.text("l3")));
  if (const auto l3 = parse_cache_instances(row.text("l3"))) server.server.facts["l3_instances_count"] = l3->count;
  set_fact(server, "nominal_hz", hz_in_name(server.cpu_model));
  const auto megahertz = [&](const char* column) {
    const auto value = row.positive(column);
    return value ? plausible_hz(*value * 1e6) : std::nullopt;
  };
  auto maximum = megahertz("cpu_max_mhz");
  if (!maximum) maximum = plausible_hz(row.positive("dmi_max_speed"));
  set_fact(server, "max_hz", maximum);
  auto current = megahertz("cpu_mhz");
  if (!current) current = plausible_hz(row.positive("dmi_cur_speed"));
  set_fact(server, "current_hz", current);
  if (server.arch == "x86_64") {  // BogoMIPS is twice the time stamp counter's clock there, and unrelated on Arm
    const auto bogomips = row.positive("bogomips");
    set_fact(server, "tsc_hz", bogomips ? plausible_hz(*bogomips * 1e6 / 2) : std::nullopt);
  }
  set_fact(server, "threads_per_core_count", row.positive("threads_per_core"));
  set_fact(server, "memory_transfers_per_s", plausible_hz(row.positive("mem_speed")));
  const std::string memory = row.text("mem_type");
  if (memory.size() == 4 && memory.starts_with("DDR") && memory[3] >= '1' && memory[3] <= '9') {
    server.facts["memory_ddr_generation_count"] = memory[3] - '0';
  }
}

// Sizes that are larger than any cache first.
constexpr const char* kMemoryReads[] = {"bwmem_rd_512mb_per_vcpu_bytes_per_s", "bwmem_rd_256mb_per_vcpu_bytes_per_s",
                                        "bwmem_rd_64mb_per_vcpu_bytes_per_s", "bwmem_rd_32mb_per_vcpu_bytes_per_s"};

// Family and model, as "6-85"; empty where the machine does not tell.
std::string generation_key(const SparecoresServer& server) {
  std::string key;
  if (server.cpu_family) key += "f" + std::to_string(*server.cpu_family);
  if (server.model) key += (key.empty() ? "m" : "-m") + std::to_string(*server.model);
  return key;
}

std::string most_common(const std::map<std::string, int64_t>& counts) {
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::string() : most->first;
}

bool is_all_capitals(const std::string& name) {
  return std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

bool hides_cpu_model(std::string_view cpu_model) {
  std::string text;
  int depth = 0;  // what stands in parentheses is no model number
  for (const char c : cpu_model) {
    if (c == '(') ++depth;
    if (depth == 0) text += c;
    if (c == ')') {
      depth = std::max(depth - 1, 0);
      text += ' ';
    }
  }
  for (const std::string& token : split(lower_case(text), ' ')) {
    if (token.ends_with("ghz")) continue;
    if (token.find_first_of("123456789") != std::string::npos) return false;
  }
  return true;
}

Result<std::vector<SparecoresServer>> read_sparecores_servers(const CsvTable& table) {
  for (const char* required : {"vendor", "server", "arch", "cpu_model"}) {
    if (const auto column = table.column(required); !column) return column.error();
  }
  std::vector<std::string> flag_columns;
  for (const std::string& column : table.columns()) {
    if (column.starts_with("f_") && column.size() > 2) flag_columns.push_back(column);
  }
  std::vector<SparecoresServer> servers;
  for (size_t i = 0; i < table.rows(); ++i) {
    const TableRow row(table, i);
    SparecoresServer server;
    server.server.vendor = row.text("vendor");
    server.server.name = row.text("server");
    server.server.vcpus = row.positive("vcpus");
    server.server.memory_gib = row.positive("mem_gib");
    if (!server.server.memory_gib) {
      server.server.memory_gib =
          published_memory_gib(server.server.vendor, server.server.name, server.server.vcpus.value_or(0));
    }
    server.server.threads_per_core = row.positive("threads_per_core");
    const auto cores = row.positive("cores_per_socket");
    const auto sockets = row.positive("sockets");
    if (cores && sockets) server.server.cores = *cores * *sockets;
    server.cpu_model = row.text("cpu_model");
    server.name = chip_name(server.cpu_model, server.server.vendor);
    if (server.name.empty()) server.name = server.cpu_model;
    server.arch = row.text("arch");
    server.cpu_vendor = row.text("cpu_vendor");
    server.cpu_family = row.integer("cpu_family");
    server.model = row.integer("model");
    server.stepping = row.integer("stepping");
    read_facts(row, server);
    for (const std::string& column : flag_columns) {
      if (row.number(column) == 1.0) server.flags.push_back(column.substr(2));
    }
    servers.push_back(std::move(server));
  }
  return servers;
}

std::vector<Platform> group_platforms(std::vector<SparecoresServer>& servers, const std::string& source) {
  std::map<std::string, std::map<std::string, int64_t>> keys_of_name;
  for (SparecoresServer& server : servers) {
    const std::string key = generation_key(server);
    auto& counts = keys_of_name[server.name];
    if (!key.empty()) ++counts[key];
  }
  std::map<std::pair<std::string, std::string>, std::vector<size_t>> members_of;
  for (size_t i = 0; i < servers.size(); ++i) {
    std::string key = generation_key(servers[i]);
    if (key.empty()) key = most_common(keys_of_name[servers[i].name]);
    members_of[{servers[i].name, key}].push_back(i);
  }

  std::vector<Platform> platforms;
  for (const auto& [name_and_key, members] : members_of) {
    const auto& [name, key] = name_and_key;
    std::map<std::string, int64_t> steppings, archs, vendors;
    Platform platform;
    for (const size_t member : members) {
      SparecoresServer& server = servers[member];
      server.platform = platforms.size();
      if (server.stepping) ++steppings[std::to_string(*server.stepping)];
      if (!server.arch.empty()) ++archs[server.arch];
      if (!server.cpu_vendor.empty()) ++vendors[server.cpu_vendor];
      if (!platform.cpu_family) platform.cpu_family = server.cpu_family;
      if (!platform.model) platform.model = server.model;
    }
    if (const auto stepping = parse_number(most_common(steppings))) platform.stepping = static_cast<int64_t>(*stepping);
    platform.arch = most_common(archs);
    platform.vendor = vendor_name(most_common(vendors));
    platform.segment = "cloud";
    platform.source = source;
    platform.name = name.empty() ? "unnamed " + platform.vendor + " CPU" : name;
    platform.id = slug(platform.name);
    if (platform.id.empty()) platform.id = "cpu";
    // A name that hides the model may stand for other hardware elsewhere: its id tells the generation always.
    const bool told_apart = hides_cpu_model(servers[members[0]].cpu_model) || keys_of_name[name].size() > 1;
    if (told_apart && !key.empty()) platform.id += "-" + key;
    platforms.push_back(std::move(platform));
  }

  // Names that differ in case alone have one slug; they are different names of the source all the same.
  std::set<std::string> ids;
  for (const bool capitals : {false, true}) {
    for (Platform& platform : platforms) {
      if (is_all_capitals(platform.name) != capitals) continue;
      std::string id = platform.id;
      if (ids.contains(id) && capitals) id += "-caps";
      for (int suffix = 2; ids.contains(id); ++suffix) id = platform.id + "-" + std::to_string(suffix);
      platform.id = id;
      ids.insert(id);
    }
  }
  make_platform_names_unique(platforms);
  for (SparecoresServer& server : servers) {
    server.server.platform = platforms[server.platform].id;
    server.server.source = source;
  }
  return platforms;
}

void set_own_facts(SparecoresServer& server) {
  for (const char* name : {"l1d_bytes", "l2_bytes", "l3_bytes"}) {
    if (const auto found = server.facts.find(name); found != server.facts.end()) server.server.facts.insert(*found);
  }
  for (const char* name : kMemoryReads) {
    const auto found = server.facts.find(name);
    if (found == server.facts.end() || !server.server.vcpus) continue;
    server.server.facts["memory_read_bytes_per_s"] = found->second * *server.server.vcpus;
    return;
  }
}

void gather_facts(const std::vector<SparecoresServer>& servers, const std::vector<bool>& use,
                  std::vector<Platform>& platforms) {
  std::vector<std::vector<size_t>> chosen(platforms.size()), all(platforms.size());
  for (size_t i = 0; i < servers.size(); ++i) {
    all[servers[i].platform].push_back(i);
    if (use[i]) chosen[servers[i].platform].push_back(i);
  }
  for (size_t p = 0; p < platforms.size(); ++p) {
    const std::vector<size_t>& members = chosen[p].empty() ? all[p] : chosen[p];
    std::map<std::string, std::vector<double>> values;
    std::map<std::string, size_t> flag_count, provider_count;
    for (const size_t member : members) {
      ++provider_count[servers[member].server.vendor];
      for (const auto& [name, value] : servers[member].facts) values[name].push_back(value);
      for (const std::string& flag : servers[member].flags) ++flag_count[flag];
    }
    for (auto& [name, list] : values) platforms[p].facts[name] = median(std::move(list));
    for (const auto& [provider, count] : provider_count) {
      platforms[p].facts[kProviderFact + provider + "_ratio"] =
          static_cast<double>(count) / static_cast<double>(members.size());
    }
    for (const auto& [flag, count] : flag_count) {
      if (2 * count > members.size()) platforms[p].flags.push_back(flag);
    }
  }
}

}  // namespace perfcast::program
